// Shared ownership of immutable nodes.
#ifndef KILN_IR_EXPR_REF_H_
#define KILN_IR_EXPR_REF_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace kiln {

// Base of every node: a reference count that threads may share. Nodes are
// small, many and short-lived: each thread keeps a few freed ones of each size
// for the next of that size.
class Node {
 public:
  static void* operator new(size_t size);
  static void operator delete(void* memory, size_t size);

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  // Nobody counts references to this node any more, and nobody frees it: for
  // nodes that all threads use, whose count would wander between them.
  void LiveForever() const {
    references_.store(kForever, std::memory_order_relaxed);
  }

 private:
  template <typename T>
  friend class Ref;
  static constexpr int32_t kForever = 1 << 30;
  mutable std::atomic<int32_t> references_{0};
};

// A counted pointer to a const node. Null when default-constructed.
// Comparison is by identity; see ir/tensor/equal.h for structural equality.
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: null is a reference
  explicit Ref(const T* node) : node_(node) { Acquire(); }
  Ref(const Ref& other) : node_(other.node_) { Acquire(); }
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref() { Release(); }

  const T* get() const { return node_; }
  const T* operator->() const { return node_; }
  const T& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }

  friend bool operator==(const Ref& a, const Ref& b) {
    return a.node_ == b.node_;
  }
  friend bool operator!=(const Ref& a, const Ref& b) {
    return a.node_ != b.node_;
  }
  friend bool operator<(const Ref& a, const Ref& b) {
    return a.node_ < b.node_;
  }
  template <typename H>
  friend H AbslHashValue(H state, const Ref& ref) {
    return H::combine(std::move(state), ref.node_);
  }

 private:
  void Acquire() const {
    if (!node_) return;
    auto& count = node_->references_;
    if (count.load(std::memory_order_relaxed) >= Node::kForever) return;
    count.fetch_add(1, std::memory_order_relaxed);
  }
  // The only owner needs no atomic update: nobody else can make a copy.
  void Release() const {
    if (!node_) return;
    auto& references = node_->references_;
    const int32_t count = references.load(std::memory_order_acquire);
    if (count >= Node::kForever) return;
    if (count == 1 || references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete node_;
    }
  }

  const T* node_ = nullptr;
};

}  // namespace kiln

template <typename T>
struct std::hash<kiln::Ref<T>> {
  size_t operator()(const kiln::Ref<T>& ref) const {
    return std::hash<const void*>()(ref.get());
  }
};

#endif  // KILN_IR_EXPR_REF_H_
