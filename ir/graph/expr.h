// Expressions of graph functions: calls of ops and of tensor functions on
// whole tensors, and what is known of the values, their struct info.
//
//   Var x("x", Tensor({Int(1), Int(784)}, DType::Float(32)));
//   Expr y = CallOp("nn.relu", {x});
//   if (const CallNode* call = y.As<CallNode>()) Use(call->args[0]);
//
// Trees are immutable and shared, as those of tensor programs (ir/expr/expr.h),
// of whose expressions extents, shape values and primitive values are made:
// `Scalar`. Variables are compared by identity. Functions are in A-normal form
// once they are normalized: every operand of a call is a variable, a constant
// or a tuple of those.
#ifndef KILN_IR_GRAPH_EXPR_H_
#define KILN_IR_GRAPH_EXPR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/blob.h"
#include "kiln/ir/expr/attr.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/ref.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::graph {

using Scalar = ::kiln::Expr;

// --- Struct info: what is known of a value before the program runs.

enum class InfoKind : uint8_t {
  kObject,    // nothing
  kPrim,      // a number
  kShape,     // extents
  kTensor,    //
  kTuple,     //
  kFunction,  //
};

class StructInfoNode : public Node {
 public:
  explicit StructInfoNode(InfoKind kind) : kind(kind) {}
  const InfoKind kind;
};

// Null where inference has not come yet.
class StructInfo : public Ref<StructInfoNode> {
 public:
  using Ref::Ref;
  InfoKind kind() const { return get()->kind; }
  template <typename T>
  const T* As() const {
    return get() && get()->kind == T::kKind ? static_cast<const T*>(get())
                                            : nullptr;
  }
};

// --- Expressions.

enum class GraphKind : uint8_t {
  kVar,
  kGlobalVar,  // a function of the module, by name
  kExtern,     // a packed function, by name
  kOp,         // an operator, by name
  kConstant,   // a tensor
  kPrim,       // a number
  kString,     //
  kDataType,   //
  kShape,      // extents as a value
  kTuple,      //
  kTupleItem,  //
  kCall,       //
  kMatchCast,  // a value with struct info that is checked when it runs
  kIf,         //
  kSeq,        // blocks of bindings, and a result
  kFunction,   //
};

class GraphNode : public Node {
 public:
  explicit GraphNode(GraphKind kind) : kind(kind) {}
  const GraphKind kind;
};

class Expr : public Ref<GraphNode> {
 public:
  using Ref::Ref;
  GraphKind kind() const { return get()->kind; }
  template <typename T>
  const T* As() const {
    return get() && get()->kind == T::kKind ? static_cast<const T*>(get())
                                            : nullptr;
  }
};

struct VarNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kVar;
  VarNode(std::string name, StructInfo info, bool is_dataflow)
      : GraphNode(kKind),
        name(std::move(name)),
        info(std::move(info)),
        is_dataflow(is_dataflow) {}
  const std::string name;  // a hint; the printer makes it unique
  const StructInfo info;
  const bool is_dataflow;  // not seen outside of its dataflow block
};

class Var : public Expr {
 public:
  Var() = default;
  explicit Var(std::string name, StructInfo info = {}, bool is_dataflow = false)
      : Expr(new VarNode(std::move(name), std::move(info), is_dataflow)) {}
  explicit Var(const VarNode* node) : Expr(node) {}
  const VarNode* get() const {
    return static_cast<const VarNode*>(Expr::get());
  }
  const VarNode* operator->() const { return get(); }
};

// What calls a name: a function of the module, a packed function, an op.
template <GraphKind kind_of>
struct NamedNode : GraphNode {
  static constexpr GraphKind kKind = kind_of;
  explicit NamedNode(std::string name)
      : GraphNode(kKind), name(std::move(name)) {}
  const std::string name;
};
using GlobalVarNode = NamedNode<GraphKind::kGlobalVar>;
using ExternNode = NamedNode<GraphKind::kExtern>;
using OpNode = NamedNode<GraphKind::kOp>;  // "add", "nn.conv2d"
using StringNode = NamedNode<GraphKind::kString>;

// A tensor that is known: dense, row-major, in the machine's byte order.
struct ConstantNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kConstant;
  ConstantNode(DType dtype, std::vector<int64_t> shape, Blob data)
      : GraphNode(kKind),
        dtype(dtype),
        shape(std::move(shape)),
        data(std::move(data)) {}
  // One whose bytes the text leaves out: metadata["..."][index].
  explicit ConstantNode(int64_t index)
      : GraphNode(kKind), dtype(DType::Void()), index(index) {}
  bool is_known() const { return data.has_value(); }
  const DType dtype;
  const std::vector<int64_t> shape;
  const std::optional<Blob> data;
  const int64_t index = -1;
};

struct PrimNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kPrim;
  explicit PrimNode(Scalar value) : GraphNode(kKind), value(std::move(value)) {}
  const Scalar value;
};

struct DataTypeNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kDataType;
  explicit DataTypeNode(DType dtype) : GraphNode(kKind), dtype(dtype) {}
  const DType dtype;
};

struct ShapeNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kShape;
  explicit ShapeNode(std::vector<Scalar> values)
      : GraphNode(kKind), values(std::move(values)) {}
  const std::vector<Scalar> values;
};

struct TupleNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kTuple;
  explicit TupleNode(std::vector<Expr> fields)
      : GraphNode(kKind), fields(std::move(fields)) {}
  const std::vector<Expr> fields;
};

struct TupleItemNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kTupleItem;
  TupleItemNode(Expr tuple, int index)
      : GraphNode(kKind), tuple(std::move(tuple)), index(index) {}
  const Expr tuple;
  const int index;
};

// callee(args, attrs). A call of a tensor function is one of the op "call_tir":
// its arguments are the function, a tuple of tensors, and perhaps a shape with
// the function's scalars; `infos` says what it writes.
struct CallNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kCall;
  CallNode(Expr callee, std::vector<Expr> args, AttrMap attrs,
           std::vector<StructInfo> infos)
      : GraphNode(kKind),
        callee(std::move(callee)),
        args(std::move(args)),
        attrs(std::move(attrs)),
        infos(std::move(infos)) {}
  const Expr callee;  // an op, a global or another variable, a packed function
  const std::vector<Expr> args;
  const AttrMap attrs;
  const std::vector<StructInfo> infos;

  // Whether an op of this name is called.
  bool IsOp(std::string_view name) const {
    const auto* op = callee.As<OpNode>();
    return op && op->name == name;
  }
};

struct MatchCastNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kMatchCast;
  MatchCastNode(Expr value, StructInfo info)
      : GraphNode(kKind), value(std::move(value)), info(std::move(info)) {}
  const Expr value;
  const StructInfo info;  // may name dimensions that are first known here
};

struct IfNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kIf;
  IfNode(Expr condition, Expr then_body, Expr else_body)
      : GraphNode(kKind),
        condition(std::move(condition)),
        then_body(std::move(then_body)),
        else_body(std::move(else_body)) {}
  const Expr condition;
  const Expr then_body, else_body;  // sequences
};

struct Binding {
  Var var;
  Expr value;
};

// Bindings in order. Those of a dataflow block have no effects but their value,
// and only variables that are not `is_dataflow` are seen behind it.
struct BindingBlock {
  bool is_dataflow = false;
  std::vector<Binding> bindings;
};

struct SeqNode : GraphNode {
  static constexpr GraphKind kKind = GraphKind::kSeq;
  SeqNode(std::vector<BindingBlock> blocks, Expr result)
      : GraphNode(kKind),
        blocks(std::move(blocks)),
        result(std::move(result)) {}
  const std::vector<BindingBlock> blocks;
  const Expr result;
};

struct FunctionFields {
  std::string name;
  std::vector<Var> params;
  StructInfo result;  // null where inference has not come yet
  AttrMap attrs;
  bool is_private = false;
  bool is_pure = true;
  Expr body;  // a sequence; null for a function that is only declared
};
struct FunctionNode : GraphNode, FunctionFields {
  static constexpr GraphKind kKind = GraphKind::kFunction;
  explicit FunctionNode(FunctionFields fields)
      : GraphNode(kKind), FunctionFields(std::move(fields)) {}
  const FunctionFields& fields() const { return *this; }
};

// A function, never null but when default-constructed.
class GraphFunction : public Expr {
 public:
  GraphFunction() = default;
  explicit GraphFunction(FunctionFields fields)
      : Expr(new FunctionNode(std::move(fields))) {}
  explicit GraphFunction(const FunctionNode* node) : Expr(node) {}
  const FunctionNode* get() const {
    return static_cast<const FunctionNode*>(Expr::get());
  }
  const FunctionNode* operator->() const { return get(); }
  const FunctionNode& operator*() const { return *get(); }
};

// --- The kinds of struct info.

struct ObjectInfo : StructInfoNode {
  static constexpr InfoKind kKind = InfoKind::kObject;
  ObjectInfo() : StructInfoNode(kKind) {}
};

struct PrimInfo : StructInfoNode {
  static constexpr InfoKind kKind = InfoKind::kPrim;
  PrimInfo(DType dtype, Scalar value)
      : StructInfoNode(kKind), dtype(dtype), value(std::move(value)) {}
  const DType dtype;
  const Scalar value;  // null where it is not known
};

constexpr int kUnknownRank = -1;

struct ShapeInfo : StructInfoNode {
  static constexpr InfoKind kKind = InfoKind::kShape;
  explicit ShapeInfo(std::vector<Scalar> values)
      : StructInfoNode(kKind),
        values(std::move(values)),
        rank(static_cast<int>(this->values->size())) {}
  explicit ShapeInfo(int rank) : StructInfoNode(kKind), rank(rank) {}
  const std::optional<std::vector<Scalar>> values;
  const int rank;
};

struct TensorInfo : StructInfoNode {
  static constexpr InfoKind kKind = InfoKind::kTensor;
  // `shape` is a ShapeNode, or a variable that holds a shape.
  TensorInfo(Expr shape, int rank, DType dtype, std::string device)
      : StructInfoNode(kKind),
        shape(std::move(shape)),
        rank(rank),
        dtype(dtype),
        device(std::move(device)) {}
  // The extents where they are known one by one, else nullptr.
  const std::vector<Scalar>* extents() const {
    const auto* known = shape.As<ShapeNode>();
    return known ? &known->values : nullptr;
  }
  const Expr shape;          // null where it is not known
  const int rank;            // kUnknownRank
  const DType dtype;         // void where it is not known
  const std::string device;  // "llvm:0:global"; "" where it does not matter
};

struct TupleInfo : StructInfoNode {
  static constexpr InfoKind kKind = InfoKind::kTuple;
  explicit TupleInfo(std::vector<StructInfo> fields)
      : StructInfoNode(kKind), fields(std::move(fields)) {}
  const std::vector<StructInfo> fields;
};

struct FunctionInfo : StructInfoNode {
  static constexpr InfoKind kKind = InfoKind::kFunction;
  FunctionInfo(std::optional<std::vector<StructInfo>> params, StructInfo result,
               bool is_pure)
      : StructInfoNode(kKind),
        params(std::move(params)),
        result(std::move(result)),
        is_pure(is_pure) {}
  const std::optional<std::vector<StructInfo>> params;  // null: any
  const StructInfo result;
  const bool is_pure;
};

// --- Makers.

StructInfo Object();
StructInfo Prim(DType dtype, Scalar value = {});
StructInfo Shape(std::vector<Scalar> values);
StructInfo ShapeOfRank(int rank);
StructInfo Tensor(std::vector<Scalar> extents, DType dtype,
                  std::string device = "");
// A tensor whose extents are not known.
StructInfo TensorOfRank(int rank, DType dtype, std::string device = "");
// A tensor whose shape is the value of a variable.
StructInfo TensorOfShape(Var shape, DType dtype, std::string device = "");
StructInfo Tuple(std::vector<StructInfo> fields);
StructInfo Callable(std::optional<std::vector<StructInfo>> params,
                    StructInfo result, bool is_pure);

Expr Op(std::string name);
Expr Global(std::string name);
Expr Extern(std::string name);
Expr Number(Scalar value);
Expr Text(std::string value);
Expr ShapeOf(std::vector<Scalar> values);
Expr TupleOf(std::vector<Expr> fields);
Expr Item(Expr tuple, int index);
Expr CallOp(std::string name, std::vector<Expr> args, AttrMap attrs = {},
            std::vector<StructInfo> infos = {});
// Blocks without bindings are left out, and neighbours that are no dataflow
// blocks are one.
Expr Seq(std::vector<BindingBlock> blocks, Expr result);

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_EXPR_H_
