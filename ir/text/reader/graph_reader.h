// Reads one graph function.
//
//   @R.function
//   def main(x: R.Tensor((1, "m"), "float32")) -> R.Tensor((1, m), "float32"):
//       with R.dataflow():
//           y = R.nn.relu(x)
//           R.output(y)
//       return y
//
// The classic spelling (out_sinfo, R.Object) and the newest one (out_ty, R.Any,
// T.int64 for a number) are both read. What the text does not annotate stays
// without struct info: inference comes later (ir/ops). A call of an op that has
// a signature (ir/graph/signature.h) may name its arguments; attributes may
// stand by position, and those that are left out get their defaults. Calls of
// other ops are kept as they stand.
#ifndef KILN_IR_TEXT_READER_GRAPH_READER_H_
#define KILN_IR_TEXT_READER_GRAPH_READER_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/signature.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/context.h"
#include "kiln/ir/text/reader/expr_reader.h"
#include "kiln/ir/text/reader/function_reader.h"

namespace kiln::script {

// What graph functions see of the module around them.
struct GraphSurroundings {
  const Surroundings& script;
  std::set<std::string> module_names;  // "Module", and what stands for it
  std::set<std::string> functions;     // of the module
};

absl::StatusOr<graph::GraphFunction> ReadGraphFunction(
    const python::Source& source, const GraphSurroundings& around,
    const python::Stmt& def);

// The parts of the reader, by family over .cc files.
class GraphReader {
 public:
  GraphReader(const py::Source& source, const GraphSurroundings& around);

  // graph_function_reader.cc
  absl::StatusOr<graph::GraphFunction> Define(const py::Stmt& def,
                                              graph::Var* self = nullptr);

 private:
  // Bindings that are read one after the other.
  struct Body {
    std::vector<graph::BindingBlock> blocks;
    graph::Expr result;  // null: nothing was returned
    std::string last;    // the name that was bound last
  };

  // graph_function_reader.cc
  absl::Status Decorator(const py::Expr& decorator,
                         graph::FunctionFields& fields);
  void DeclareNamed(const py::Expr& annotation);
  absl::Status DeclareAhead(const py::Stmt& def);
  absl::StatusOr<graph::Var> Parameter(const py::Parameter& parameter);
  graph::StructInfo NamedNumber(const std::string& name,
                                const graph::StructInfo& info);
  absl::StatusOr<graph::FunctionFields> Signature(const py::Stmt& def);
  void Declare(const std::string& name);
  absl::Status Statements(const std::vector<py::Stmt>& stmts, Body& body);
  absl::Status Statement(const py::Stmt& s, Body& body);
  absl::Status Evaluated(const py::Stmt& s, Body& body);
  absl::Status Returned(const py::Stmt& s, Body& body);
  absl::Status Assigned(const py::Stmt& s, Body& body);
  absl::Status Unpacked(const py::Stmt& s, Body& body);
  absl::Status Dataflow(const py::Stmt& s, Body& body);
  absl::Status Branch(const py::Stmt& s, Body& body);
  absl::StatusOr<Body> BranchBody(const py::Stmt& s,
                                  const std::vector<py::Stmt>& stmts);
  absl::Status Nested(const py::Stmt& s, Body& body);
  void Bind(const std::string& name, graph::StructInfo info, graph::Expr value,
            Body& body);

  // struct_info_reader.cc
  absl::StatusOr<graph::StructInfo> Info(const py::Expr& e);
  absl::StatusOr<graph::StructInfo> TensorOf(const py::Expr& e);
  absl::StatusOr<graph::StructInfo> ShapeInfoOf(const py::Expr& e);
  absl::StatusOr<graph::StructInfo> PrimOf(const py::Expr& e);
  absl::StatusOr<graph::StructInfo> CallableOf(const py::Expr& e);
  absl::StatusOr<std::vector<graph::StructInfo>> Infos(const py::Expr& e);
  absl::StatusOr<int> Rank(const py::Expr* e, int known);

  // graph_expr_reader.cc
  absl::StatusOr<graph::Expr> Value(const py::Expr& e);
  absl::StatusOr<graph::Expr> Name(const py::Expr& e);
  absl::StatusOr<graph::Expr> Attribute(const py::Expr& e);
  graph::Expr Elsewhere(const py::Expr& list, int64_t index) const;
  absl::StatusOr<graph::Expr> Subscript(const py::Expr& e);
  absl::StatusOr<graph::Expr> Operator(const py::Expr& e);
  absl::StatusOr<graph::Expr> Scalar(const py::Expr& e);
  absl::StatusOr<graph::Expr> TupleOf(const py::Expr& e);
  absl::StatusOr<graph::Expr> Call(const py::Expr& e);

  // graph_call_reader.cc
  absl::StatusOr<graph::Expr> OpCall(const py::Expr& e,
                                     const std::string& name);
  absl::StatusOr<graph::Expr> SpecialCall(const py::Expr& e,
                                          const std::string& name, bool& known);
  absl::StatusOr<graph::Expr> TensorCall(const py::Expr& e,
                                         const std::string& name);
  absl::StatusOr<graph::Expr> PackedCall(const py::Expr& e,
                                         const std::string& name);
  absl::StatusOr<graph::Expr> MatchCast(const py::Expr& e);
  absl::StatusOr<graph::Expr> Constant(const py::Expr& e);
  absl::StatusOr<graph::Expr> ShapeCall(const py::Expr& e);
  absl::StatusOr<graph::Expr> OtherCall(const py::Expr& e);
  // The parts of a call while its arguments are read one by one.
  struct CallParts {
    const graph::OpSignature* signature = nullptr;  // null: any arguments
    std::vector<graph::Expr> args;
    AttrMap attrs;
    std::vector<graph::StructInfo> infos;
  };
  absl::Status Positional(const py::Expr& argument, CallParts& parts);
  absl::Status Keyword(const py::Expr& keyword, CallParts& parts);
  absl::StatusOr<graph::Expr> ArgumentOf(const py::Expr& e,
                                         std::string_view name);
  absl::StatusOr<Attr> AttributeOf(const py::Expr& e);
  absl::StatusOr<Attr> IndexMap(const py::Expr& call);
  absl::Status Complete(const py::Expr& e, CallParts& parts);
  absl::StatusOr<std::vector<graph::StructInfo>> Written(const py::Expr& call,
                                                         const py::Expr& what);
  absl::StatusOr<graph::Expr> Function(const py::Expr& e);
  absl::Status Elements(const py::Expr& e, size_t depth,
                        std::vector<int64_t>& shape,
                        std::vector<kiln::Expr>& values, bool& is_plain);

  const graph::Var* FindVar(const std::string& name) const;
  absl::Status Error(py::Position at, std::string_view message) const {
    return context_.Error(at, message);
  }

  const GraphSurroundings& around_;
  Context context_;
  ExprReader scalars_;
  std::set<std::string> module_names_;
  std::vector<std::map<std::string, graph::Var>> vars_;
  // Names of dataflow blocks that have ended, their outputs left out.
  std::set<std::string> ended_;
  graph::FunctionFields* function_ = nullptr;  // the one that is read
  // Names that a dataflow block gives to what follows it; null outside of one.
  const std::set<std::string>* outputs_ = nullptr;
};

// "nn.conv2d" for R.nn.conv2d, relax.nn.conv2d or relax.op.nn.conv2d; "" for
// what is not a name of the graph dialect.
std::string GraphName(const py::Expr& expr);

// The number that a value is known to be, be it a variable; else null.
kiln::Expr NumberOf(const graph::Expr& e);

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_GRAPH_READER_H_
