// Statements of tensor functions: blocks inside loops, or flat loops after
// lowering. Immutable trees with structural sharing.
//
// Loops and blocks carry ids. An id is unique in its function, survives every
// rewrite that keeps the loop or block, and is never used again.
#ifndef KILN_IR_TENSOR_STMT_H_
#define KILN_IR_TENSOR_STMT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/ir/expr/attr.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// --- Statements.

enum class StmtKind : uint8_t {
  kFor,
  kBlockRealize,
  kSeq,
  kStore,
  kIf,
  kLet,
  kAllocate,
  kEvaluate
};

class StmtNode : public Node {
 public:
  explicit StmtNode(StmtKind kind) : kind(kind) {}
  const StmtKind kind;
};

class Stmt : public Ref<StmtNode> {
 public:
  using Ref::Ref;
  StmtKind kind() const { return get()->kind; }
  template <typename T>
  const T* As() const {
    return get() && T::kKind == get()->kind ? static_cast<const T*>(get())
                                            : nullptr;
  }
};

// [min, min + extent).
struct Range {
  Expr min, extent;
};

enum class ForKind : uint8_t {
  kSerial,
  kParallel,
  kVectorized,
  kUnrolled,
  kThreadBinding
};

using LoopId = int64_t;
using BlockId = int64_t;

// for var in [min, min + extent): body
struct ForFields {
  LoopId id = 0;
  Var var;
  Expr min, extent;
  ForKind for_kind = ForKind::kSerial;
  std::string thread_tag;  // "threadIdx.x"; only for kThreadBinding
  Annotations annotations;
  Stmt body;
};
struct ForNode : StmtNode, ForFields {
  static constexpr StmtKind kKind = StmtKind::kFor;
  explicit ForNode(ForFields fields)
      : StmtNode(kKind), ForFields(std::move(fields)) {}
  ForNode(const ForFields& like, Stmt body)
      : StmtNode(kKind),
        ForFields{like.id,          like.var,       like.min,
                  like.extent,      like.for_kind,  like.thread_tag,
                  like.annotations, std::move(body)} {}
  const ForFields& fields() const { return *this; }
};

enum class IterType : uint8_t { kSpatial, kReduce, kOpaque };

// An iterator of a block: instances of the block differ in its value.
struct IterVar {
  Var var;
  Range domain;
  IterType type;
};

// A box of elements of a buffer.
struct BufferRegion {
  Buffer buffer;
  std::vector<Range> region;  // one range for each dimension
};

// `buffer` is another view of the box `source`.
struct MatchBufferRegion {
  Buffer buffer;
  BufferRegion source;
};

// A unit of computation, isolated from the loops around it: its body uses its
// own iterators only. `init` runs before the body in the first instance over
// the reduce iterators.
struct BlockFields {
  BlockId id = 0;
  std::string name;
  std::vector<IterVar> iters;
  std::vector<BufferRegion> reads, writes;
  std::vector<Buffer> alloc_buffers;
  std::vector<MatchBufferRegion> match_buffers;
  Annotations annotations;
  Stmt init;  // null: none
  Stmt body;
};
struct BlockNode : Node, BlockFields {
  explicit BlockNode(BlockFields fields) : BlockFields(std::move(fields)) {}
  BlockNode(const BlockFields& like, Stmt init, Stmt body)
      : BlockFields{like.id,
                    like.name,
                    like.iters,
                    like.reads,
                    like.writes,
                    like.alloc_buffers,
                    like.match_buffers,
                    like.annotations,
                    std::move(init),
                    std::move(body)} {}
  const BlockFields& fields() const { return *this; }
};
using Block = Ref<BlockNode>;

// Runs `block` with iters[i] = values[i] where `predicate` holds.
struct BlockRealizeNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kBlockRealize;
  BlockRealizeNode() : StmtNode(kKind) {}
  std::vector<Expr> values;
  Expr predicate;  // a bool; constant true where there is none
  Block block;
};

// Two or more statements, one after the other; none of them a sequence.
struct SeqNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kSeq;
  SeqNode() : StmtNode(kKind) {}
  std::vector<Stmt> stmts;
};

// buffer[indices] = value. A vector store has a vector as its last index.
struct StoreNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kStore;
  StoreNode() : StmtNode(kKind) {}
  Buffer buffer;
  std::vector<Expr> indices;
  Expr value;
};

struct IfNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kIf;
  IfNode() : StmtNode(kKind) {}
  Expr condition;
  Stmt then_case;
  Stmt else_case;  // null: none
};

// var = value in body
struct LetStmtNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kLet;
  LetStmtNode() : StmtNode(kKind) {}
  Var var;
  Expr value;
  Stmt body;
};

// `buffer` exists, uninitialized, in body. Where `buffer->data` is set and is
// bound outside, the buffer is another view of that storage instead.
struct AllocateNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kAllocate;
  AllocateNode() : StmtNode(kKind) {}
  Buffer buffer;
  bool is_view = false;  // a declaration over existing storage
  Annotations annotations;
  Stmt body;
};

struct EvaluateNode : StmtNode {
  static constexpr StmtKind kKind = StmtKind::kEvaluate;
  EvaluateNode() : StmtNode(kKind) {}
  Expr value;
};

// --- Makers. To change a node, copy `fields()`, edit, and make it anew:
//   ForFields f = loop->fields(); f.body = body; Stmt changed = MakeFor(f);

Stmt MakeFor(ForFields fields);
Stmt MakeFor(LoopId id, Var var, Expr extent, Stmt body,
             ForKind kind = ForKind::kSerial);
Block MakeBlock(BlockFields fields);
Stmt MakeRealize(std::vector<Expr> values, Expr predicate, Block block);
// Flattens nested sequences; one statement comes back as itself. An empty
// list gives an Evaluate of 0.
Stmt MakeSeq(std::vector<Stmt> stmts);
Stmt MakeStore(Buffer buffer, Expr value, std::vector<Expr> indices);
Stmt MakeIf(Expr condition, Stmt then_case, Stmt else_case = nullptr);
Stmt MakeLet(Var var, Expr value, Stmt body);
Stmt MakeAllocate(Buffer buffer, Stmt body, bool is_view = false,
                  Annotations annotations = {});
Stmt MakeEvaluate(Expr value);

// The same loop around another body, and the same block likewise.
Stmt WithBody(const ForNode& loop, Stmt body);
Block WithBody(const BlockNode& block, Stmt init, Stmt body);

// The range [index, index + 1) in each dimension.
std::vector<Range> PointRegion(const std::vector<Expr>& indices);
// The whole of `buffer`.
BufferRegion FullRegion(const Buffer& buffer);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_STMT_H_
