// The tokens of canonical forms, at both levels. Of canonical.cc and
// canonical_graph.cc only.
#ifndef KILN_IR_TENSOR_CANONICAL_WRITER_H_
#define KILN_IR_TENSOR_CANONICAL_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// Writes tokens to a byte string. Every list carries its length, and every
// node its kind, so that no two programs run together.
class CanonicalWriter {
 public:
  explicit CanonicalWriter(CanonicalOptions options) : options_(options) {
    bytes_.reserve(2048);
  }
  std::string Take() { return std::move(bytes_); }

  void Write(const Function& f);
  void Write(const Module& m);
  void Write(const Stmt& s);
  void Write(const Expr& e);
  void Write(const Attr& attr);
  void Write(const graph::Expr& e);
  void Write(const graph::StructInfo& info);
  void Number(int64_t value);
  void Text(std::string_view text);

 private:
  void Byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void Type(DType dtype) { Number(dtype.Key()); }
  void Write(const Range& range) {
    Write(range.min);
    Write(range.extent);
  }
  void Write(const BufferRegion& region) {
    Write(region.buffer);
    WriteList(region.region);
  }
  void Write(const MatchBufferRegion& match) {
    Write(match.buffer);
    Write(match.source);
  }
  void Write(const IterVar& iter) {
    Write(static_cast<const Expr&>(iter.var));
    Write(iter.domain);
    Byte(static_cast<uint8_t>(iter.type));
  }
  void Write(const Buffer& buffer);
  void Write(const BlockNode& block);
  void Write(const BlockRealizeNode& realize);
  void Write(const ForNode& loop);
  void Write(const AttrMap& map);
  // canonical_graph.cc
  void WriteOptional(const graph::Expr& e) {
    Byte(static_cast<bool>(e));
    if (e) Write(e);
  }
  void Write(const graph::Var& var) {
    Write(static_cast<const graph::Expr&>(var));
  }
  void Write(const graph::ConstantNode& constant);
  void Write(const graph::CallNode& call);
  void Write(const graph::SeqNode& seq);
  void Write(const graph::BindingBlock& block);
  void Write(const graph::FunctionNode& f);
  void WriteOptional(const Expr& e) {
    Byte(static_cast<bool>(e));
    if (e) Write(e);
  }
  void WriteOptional(const Stmt& s) {
    Byte(static_cast<bool>(s));
    if (s) Write(s);
  }
  template <typename T>
  void WriteList(const std::vector<T>& list) {
    Number(static_cast<int64_t>(list.size()));
    for (const T& element : list) Write(element);
  }

  CanonicalOptions options_;
  std::string bytes_;
  std::unordered_map<const void*, int64_t> numbers_;
};

}  // namespace kiln

#endif  // KILN_IR_TENSOR_CANONICAL_WRITER_H_
