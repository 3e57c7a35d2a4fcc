// Modules of graph functions from code.
//
//   // relu(x @ w) for any number of rows: the product from a formula, which
//   // becomes a tensor function of the module, relu as an op.
//   const kiln::Var n("n");
//   const Var x("x", Tensor({n, Int(128)}, DType::Float(32)));
//   const Var w("w", Tensor({Int(128), Int(64)}, DType::Float(32)));
//   BlockBuilder bb;
//   BlockBuilder::Scope main = bb.BeginFunction("main", {x, w});
//   BlockBuilder::Scope dataflow = bb.BeginDataflow();
//   const Var y = bb.EmitTe("matmul", Matmul, x, w);
//   const Var out = bb.EmitOutput(CallOp("nn.relu", {y}));
//   dataflow.End();
//   bb.EmitFuncOutput(out);
//   absl::StatusOr<Module> module = bb.Finish();
//
//   te::Tensor Matmul(const te::Tensor& a, const te::Tensor& b) {
//     const te::IterVar k = te::ReduceAxis(Int(0), a.shape()[1], "k");
//     return te::Compute({a.shape()[0], b.shape()[1]}, [&](const auto& i) {
//       return te::Sum(a(i[0], k) * b(k, i[1]), {k});
//     }, "matmul");
//   }
//
// Every value gets a variable with the struct info that inference finds for it
// (ir/ops/infer.h): extents are numbers of elements, int64, and may be
// symbolic. Operands that are calls themselves get variables of their own, each
// once. Attributes that a call leaves out get the defaults that they have in
// text.
//
// Errors stick, so that building needs no checks: the first call that is wrong
// is noted and gives a variable of which nothing is known, what follows does
// nothing, and Finish tells the error, which begins with the line of the
// program that made the call, then names the function:
//
//   model.cc:12: main: lv is a variable of a dataflow block and ...
//
// InvalidArgument is about a value, FailedPrecondition about the order of
// calls. A call that failed has changed nothing; TakeError goes on from there.
#ifndef KILN_FRONTENDS_BUILDER_BUILDER_H_
#define KILN_FRONTENDS_BUILDER_BUILDER_H_

#include <concepts>
#include <memory>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::graph {

struct FunctionOptions {
  AttrMap attrs;
  bool is_private = false;
  // Whether it does nothing but give a value. Calls of packed functions and of
  // ops with effects are refused in a pure one.
  bool is_pure = true;
  // What it gives, for functions that call themselves; null: inferred.
  StructInfo result;
};

// What a formula over tensors gives.
struct TeOutputs {
  TeOutputs(te::Tensor output) : outputs(std::vector{output}) {}  // NOLINT
  TeOutputs(std::vector<te::Tensor> list)
      : outputs(std::move(list)) {}                        // NOLINT
  TeOutputs(absl::StatusOr<te::Tensor> output);            // NOLINT
  TeOutputs(absl::StatusOr<std::vector<te::Tensor>> list)  // NOLINT
      : outputs(std::move(list)) {}
  TeOutputs(te::Tensor output, std::vector<te::Tensor> layout_free)
      : outputs(std::vector{output}), layout_free(std::move(layout_free)) {}
  absl::StatusOr<std::vector<te::Tensor>> outputs;
  // Inputs, constants, whose layout is free (ir/tensor/layout_free.h).
  std::vector<te::Tensor> layout_free;
};

class BlockBuilder {
 public:
  using Place = std::source_location;  // in the program that builds

  // A name, and where it was given.
  struct Named {
    Named(const char* name, Place place = Place::current())  // NOLINT
        : name(name), place(place) {}
    Named(std::string name, Place place = Place::current())  // NOLINT
        : name(std::move(name)), place(place) {}
    std::string name;
    Place place;
  };

  class State;

  // A function or a dataflow block while it is built. Ends by End() or when it
  // is destroyed; a second End does nothing.
  class [[nodiscard]] Scope {
   public:
    Scope(Scope&& other) noexcept = default;
    Scope& operator=(Scope&& other) = delete;
    ~Scope() { End(); }
    void End();

   private:
    friend class BlockBuilder;
    Scope(std::shared_ptr<State> state, int id, Place begun)
        : state_(std::move(state)), id_(id), begun_(begun) {}
    std::shared_ptr<State> state_;
    int id_;  // 0: nothing was begun
    Place begun_;
  };

  // Goes on from `module`.
  explicit BlockBuilder(Module module = {});
  BlockBuilder(BlockBuilder&& other) = default;
  BlockBuilder& operator=(BlockBuilder&& other) = default;

  // --- Functions.

  // A graph function of a name that the module does not have. Its parameters
  // are given here, or to EmitFuncOutput. A function ends with its output.
  Scope BeginFunction(Named name, std::vector<Var> params = {},
                      FunctionOptions options = {});
  // A value that the function gives, once in a function, outside of dataflow
  // blocks and branches.
  void EmitFuncOutput(Expr value, std::vector<Var> params = {},
                      Place place = Place::current());

  // Adds a whole function under a name like its own; an equal tensor function
  // that the module has is used again. Gives the name, to be called.
  Expr AddFunction(Function f, Place place = Place::current());
  Expr AddFunction(GraphFunction f, Place place = Place::current());
  // Puts a function in the place of the one of this name.
  void UpdateFunction(const std::string& name, Function f,
                      Place place = Place::current());
  void UpdateFunction(const std::string& name, GraphFunction f,
                      Place place = Place::current());
  // A function of the module, the one that is built among them.
  Expr GetGlobalVar(const std::string& name, Place place = Place::current());
  // `hint`, or with a number behind it where the module has that.
  std::string UniqueFunctionName(const std::string& hint) const;

  // --- Dataflow blocks: values without effects.

  Scope BeginDataflow(Place place = Place::current());
  // A value that is seen behind the block.
  Var EmitOutput(Expr value, std::string name = "",
                 Place place = Place::current());

  // --- Values. Variables are called `name`, with a number behind it where the
  // function has that name; "lv" in dataflow blocks, "gv" outside of them.

  Var Emit(Expr value, std::string name = "", Place place = Place::current());
  // A value that has this struct info, which is checked when the program runs.
  // Dimensions of `info` that are not known before become known.
  Var MatchCast(Expr value, StructInfo info, std::string name = "",
                Place place = Place::current());
  // The value of one of two branches, which are built by what is given: each
  // emits bindings of its own and gives its value. Outside of dataflow blocks.
  Var EmitIf(Expr condition, FunctionRef<Expr()> then_body,
             FunctionRef<Expr()> else_body, std::string name = "",
             Place place = Place::current());
  // The variables that the open function uses and does not bind, in the order
  // of first use, where it was begun without parameters.
  std::vector<Var> FreeVars() const;
  // Variables for the fields of a tuple that has `count`; as many in any case.
  std::vector<Var> EmitFields(Expr tuple, size_t count,
                              Place place = Place::current());

  // What a formula computes from tensors, as a call of a tensor function called
  // `name` or the like, which is private; equal ones are shared. Of `args`,
  //
  //   a graph expression           is a te::Tensor for the formula,
  //   a vector of those            a std::vector<te::Tensor>,
  //   anything else (numbers, extents, lists of them)   is handed on.
  //
  // The extents of tensors have to be known, maybe symbolic. `formula` gives
  // what makes TeOutputs; several tensors are a tuple.
  template <typename Formula, typename... Args>
  Expr CallTe(Named name, const Formula& formula, const Args&... args);
  // The same, bound to a variable.
  template <typename Formula, typename... Args>
  Var EmitTe(Named name, const Formula& formula, const Args&... args) {
    const Place place = name.place;
    return Emit(CallTe(std::move(name), formula, args...), "", place);
  }

  // --- The module.

  // Inferred as a whole and verified; the builder stays as it is. The error
  // that sticks, or FailedPrecondition while a function is open.
  absl::StatusOr<Module> Finish() const;
  // What is there so far.
  const Module& module() const;
  const absl::Status& status() const;
  // The error that sticks, which is forgotten. A function whose parameters or
  // output were refused is still open.
  absl::Status TakeError();

 private:
  // The placeholders of a formula, and what it is called with.
  class TeInputs {
   public:
    explicit TeInputs(BlockBuilder* builder, Place place)
        : builder_(builder), place_(place) {}
    template <typename T>
    auto Take(const T& arg);
    const std::vector<Expr>& args() const { return args_; }
    const std::vector<te::Tensor>& tensors() const { return tensors_; }

   private:
    te::Tensor TakeTensor(const Expr& arg);
    BlockBuilder* builder_;
    Place place_;
    std::vector<Expr> args_;
    std::vector<te::Tensor> tensors_;
  };
  Expr CallTensors(const Named& name, const TeInputs& inputs,
                   TeOutputs outputs);
  Var EmitTo(Expr value, const std::string& name, bool is_output, Place place);
  absl::StatusOr<Expr> Branch(FunctionRef<Expr()> body);
  absl::Status CheckUpdate(const std::string& name) const;
  static Expr Failed();

  std::shared_ptr<State> state_;
};

// --- Implementation of templates.

template <typename T>
auto BlockBuilder::TeInputs::Take(const T& arg) {
  if constexpr (std::derived_from<T, Expr>) {
    return TakeTensor(arg);
  } else if constexpr (std::same_as<T, std::vector<Expr>> ||
                       std::same_as<T, std::vector<Var>>) {
    std::vector<te::Tensor> tensors;
    for (const Expr& field : arg) tensors.push_back(TakeTensor(field));
    return tensors;
  } else {
    return arg;
  }
}

template <typename Formula, typename... Args>
Expr BlockBuilder::CallTe(Named name, const Formula& formula,
                          const Args&... args) {
  TeInputs inputs(this, name.place);
  // Braces evaluate in order.
  const std::tuple<decltype(inputs.Take(args))...> operands{
      inputs.Take(args)...};
  if (!status().ok()) return Failed();
  return CallTensors(name, inputs, TeOutputs(std::apply(formula, operands)));
}

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_BUILDER_H_
