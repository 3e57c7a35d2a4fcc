// Turns the node table of a function back into nodes. Internal to ir/serial.
#ifndef KILN_IR_SERIAL_READER_H_
#define KILN_IR_SERIAL_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/repeated_field.h"
#include "kiln/ir/proto/module.pb.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::serial_internal {

// Keeps the first error; what is asked for after it may be null.
class Reader {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<proto::Node>;
  // `where` starts every message: "function main".
  explicit Reader(std::string where) : where_(std::move(where)) {}

  // Reads the whole table, once, before anything refers to it.
  void ReadTable(const Nodes& nodes);

  // The node behind a reference. Zero is an error unless it is optional.
  Expr GetExpr(uint32_t ref, bool optional = false);
  Var GetVar(uint32_t ref, bool optional = false);
  Buffer GetBuffer(uint32_t ref, bool optional = false);
  Stmt GetStmt(uint32_t ref, bool optional = false);
  AttrMap GetAttrs(const proto::AttrMap& map);

  void Fail(const std::string& what);
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  using Refs = google::protobuf::RepeatedField<uint32_t>;
  struct Entry {
    Expr expr;
    Buffer buffer;
    Stmt stmt;
    int depth = 1;
    int64_t tree_size = 1;
  };

  // The entry of `ref`; nullptr after an error, or for an optional zero. The
  // node under construction becomes deeper and larger by it.
  const Entry* Use(uint32_t ref, bool optional);
  std::vector<Expr> GetExprs(const Refs& refs);

  Expr ReadExpr(const proto::Expr& message);
  Expr MakeLeaf(ExprKind kind, DType dtype, const proto::Expr& message);
  Expr MakeInner(ExprKind kind, DType dtype, const proto::Expr& message,
                 std::vector<Expr> operands);
  Buffer ReadBuffer(const proto::Buffer& message);
  Stmt ReadStmt(const proto::Stmt& message);
  Stmt ReadFor(const proto::For& message);
  Stmt ReadRealize(const proto::BlockRealize& message);
  Stmt ReadSeq(const proto::Seq& message);
  Stmt ReadStore(const proto::Store& message);
  Stmt ReadIf(const proto::If& message);
  Stmt ReadLet(const proto::Let& message);
  Stmt ReadAllocate(const proto::Allocate& message);
  BlockFields ReadBlock(const proto::Block& message);
  Range GetRange(const proto::Range& message);
  BufferRegion GetRegion(const proto::BufferRegion& message);
  Attr GetAttr(const proto::Attr& message, int depth);
  AttrMap GetAttrs(const proto::AttrMap& map, int depth);
  DType GetType(const std::string& name);

  std::string where_;
  absl::Status status_;
  std::vector<Entry> entries_;
  Entry current_;
};

}  // namespace kiln::serial_internal

#endif  // KILN_IR_SERIAL_READER_H_
