// What belongs to variables: a map that is fast while it is small.
#ifndef KILN_IR_EXPR_VAR_TABLE_H_
#define KILN_IR_EXPR_VAR_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/base/check.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// A map from variables (by identity) to values. Entries stand in the order in
// which they came. A new entry may move the others.
template <typename T>
class VarTable {
 public:
  using Entry = std::pair<const VarNode*, T>;

  VarTable() = default;
  VarTable(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) emplace(entry.first, entry.second);
  }

  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + entries_.size(); }
  Entry* begin() { return entries_.data(); }
  Entry* end() { return entries_.data() + entries_.size(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  // The bits of all its variables: an expression that has none of them uses
  // none of the variables.
  uint32_t var_bits() const { return var_bits_; }

  // The entry of `var`, or end(); of no variable, too.
  const Entry* find(const VarNode* var) const {
    return begin() + PositionOf(var);
  }
  Entry* find(const VarNode* var) { return begin() + PositionOf(var); }
  size_t count(const VarNode* var) const { return find(var) != end(); }
  const T& at(const VarNode* var) const {
    const Entry* entry = find(var);
    KILN_CHECK(entry != end()) << var->name;
    return entry->second;
  }

  T& operator[](const VarNode* var) { return emplace(var, T()).first->second; }
  // The entry of `var`, which is new where the second is true.
  std::pair<Entry*, bool> emplace(const VarNode* var, T value) {
    const size_t position = PositionOf(var);
    const bool is_new = position == size();
    if (is_new) {
      entries_.emplace_back(var, std::move(value));
      var_bits_ |= var->var_bits;
      if (size() > kListed) AddToIndex();
    }
    return {begin() + position, is_new};
  }

 private:
  // Up to so many entries are looked through one by one.
  static constexpr size_t kListed = 12;

  static size_t Hash(const VarNode* var) {
    return (reinterpret_cast<uintptr_t>(var) >> 4) * 0x9E3779B97F4A7C15ull >>
           20;
  }

  size_t PositionOf(const VarNode* var) const {
    if (!var || !(var->var_bits & var_bits_)) return size();
    if (!index_.empty()) return PositionInIndex(var);
    size_t position = 0;
    while (position < size() && entries_[position].first != var) ++position;
    return position;
  }

  size_t PositionInIndex(const VarNode* var) const {
    const size_t mask = index_.size() - 1;
    for (size_t slot = Hash(var) & mask; index_[slot] != 0;
         slot = (slot + 1) & mask) {
      if (entries_[index_[slot] - 1].first == var) return index_[slot] - 1;
    }
    return size();
  }

  // Adds the last entry, or all of them to a larger index.
  void AddToIndex() {
    size_t first = size() - 1;
    if (index_.size() < 2 * size()) {
      index_.assign(index_.empty() ? 64 : 2 * index_.size(), 0);
      first = 0;
    }
    const size_t mask = index_.size() - 1;
    for (size_t i = first; i < size(); ++i) {
      size_t slot = Hash(entries_[i].first) & mask;
      while (index_[slot] != 0) slot = (slot + 1) & mask;
      index_[slot] = static_cast<uint32_t>(i + 1);
    }
  }

  absl::InlinedVector<Entry, 6> entries_;
  std::vector<uint32_t> index_;  // 1 + position of an entry; 0: free
  uint32_t var_bits_ = 0;
};

}  // namespace kiln

#endif  // KILN_IR_EXPR_VAR_TABLE_H_
