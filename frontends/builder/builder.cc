// The builder is what sticks and what sits between the caller and the function
// that is open: it adds the line of the caller's program to errors, keeps the
// first one, and does nothing after it.
//
//   bb.Emit(CallOp("nn.rleu", {x}, {{"k", 1}}))    status: model.cc:7: main:
//   ... bb.EmitOutput(y)                               nothing bb.Finish()
//   model.cc:7: main: ...
//
// While a function is open, the module has it as declared, so that it may call
// itself.
#include "kiln/frontends/builder/builder.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/frontends/builder/dimensions.h"
#include "kiln/frontends/builder/module_edit.h"
#include "kiln/frontends/builder/open_function.h"
#include "kiln/frontends/builder/place.h"
#include "kiln/frontends/builder/scopes.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"

namespace kiln::graph {
namespace {

bool IsCondition(const StructInfo& info) {
  if (!info || info.kind() == InfoKind::kObject) return true;
  if (const auto* number = info.As<PrimInfo>()) return number->dtype.is_bool();
  const auto* tensor = info.As<TensorInfo>();
  if (!tensor) return false;
  const bool is_bool = tensor->dtype.is_bool() || tensor->dtype.is_void();
  return is_bool && (tensor->rank == 0 || tensor->rank == kUnknownRank);
}

}  // namespace

TeOutputs::TeOutputs(absl::StatusOr<te::Tensor> output)
    : outputs(output.status()) {
  if (output.ok()) outputs = std::vector{*std::move(output)};
}

class BlockBuilder::State {
 public:
  explicit State(Module module) : module(std::move(module)) {}

  // Notes the error, unless there is one; whether there is none.
  bool Note(Place place, const absl::Status& error) {
    if (status.ok() && !error.ok()) {
      status = absl::Status(
          error.code(), absl::StrCat(PlaceText(place), ": ", error.message()));
    }
    return status.ok();
  }
  // The function that is open, unless something is wrong.
  OpenFunction* OpenAt(Place place, const char* call) {
    if (!status.ok()) return nullptr;
    if (!open) {
      Note(place, absl::FailedPreconditionError(absl::StrCat(
                      call,
                      " stands outside of a function; call BeginFunction "
                      "first (a function ends with EmitFuncOutput)")));
      return nullptr;
    }
    open->MoveTo(place);
    return &*open;
  }
  bool IsOpen(const std::string& name) const {
    return open && open->name() == name;
  }
  absl::Status CheckBegin(const std::string& name) const;
  void EndScope(int id, Place begun);

  Module module;
  absl::Status status;
  std::optional<OpenFunction> open;
  Place begun;      // the open function
  int last_id = 0;  // of scopes
};

absl::Status BlockBuilder::State::CheckBegin(const std::string& name) const {
  KILN_RETURN_IF_ERROR(CheckName(name));
  if (open) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " begins inside of ", open->name(), ", begun in ",
                     PlaceText(begun), "; give that its output first"));
  }
  if (!HasFunction(module, name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the module has a function called ", name, "; take UniqueFunctionName(\"",
      name, "\"), or UpdateFunction"));
}

void BlockBuilder::State::EndScope(int id, Place begun) {
  if (!open || id == 0) return;
  open->EndDataflow(id);
  if (open->id() != id) return;
  const std::string name = open->name();
  open.reset();
  RemoveFunction(module, name);
  Note(begun, absl::FailedPreconditionError(absl::StrCat(
                  name,
                  ": the function that begins here ends without an output; "
                  "call EmitFuncOutput before its scope ends")));
}

void BlockBuilder::Scope::End() {
  if (state_) state_->EndScope(std::exchange(id_, 0), begun_);
}

BlockBuilder::BlockBuilder(Module module)
    : state_(std::make_shared<State>(std::move(module))) {}

const Module& BlockBuilder::module() const { return state_->module; }
const absl::Status& BlockBuilder::status() const { return state_->status; }

absl::Status BlockBuilder::TakeError() {
  return std::exchange(state_->status, absl::OkStatus());
}

Expr BlockBuilder::Failed() { return Var("failed", Object()); }

// --- Functions.

BlockBuilder::Scope BlockBuilder::BeginFunction(Named name,
                                                std::vector<Var> params,
                                                FunctionOptions options) {
  State& state = *state_;
  absl::Status error = state.CheckBegin(name.name);
  if (error.ok()) error = CheckParams(params);
  if (error.ok()) error = CheckInfo(options.result, "the result");
  if (!state.Note(name.place, error)) return Scope(state_, 0, name.place);
  const bool has_params = !params.empty();
  FunctionFields fields{.name = name.name,
                        .params = std::move(params),
                        .result = options.result,
                        .attrs = std::move(options.attrs),
                        .is_private = options.is_private,
                        .is_pure = options.is_pure};
  if (has_params) PutFunction(state.module, GraphFunction(fields));
  state.begun = name.place;
  state.open.emplace(std::move(fields), ++state.last_id, &state.module);
  return Scope(state_, state.last_id, name.place);
}

void BlockBuilder::EmitFuncOutput(Expr value, std::vector<Var> params,
                                  Place place) {
  OpenFunction* open = state_->OpenAt(place, "EmitFuncOutput");
  if (!open) return;
  absl::StatusOr<GraphFunction> f = open->Finish(value, params);
  if (!state_->Note(place, f.status())) return;
  state_->open.reset();
  PutFunction(state_->module, *std::move(f));
}

Expr BlockBuilder::AddFunction(Function f, Place place) {
  absl::Status error = status();
  if (error.ok()) error = CheckName(f.name);
  if (error.ok()) error = VerifyFunction(f, {.level = LevelOf(f)});
  if (!state_->Note(place, error)) return Failed();
  return Global(AddTensorFunction(std::move(f), state_->module));
}

Expr BlockBuilder::AddFunction(GraphFunction f, Place place) {
  absl::Status error = status();
  if (error.ok() && !f) error = absl::InvalidArgumentError("a null function");
  if (error.ok()) error = CheckName(f->name);
  if (error.ok()) error = CheckFunctionScopes(*f);
  if (!state_->Note(place, error)) return Failed();
  const std::string name = UniqueFunctionName(f->name);
  PutFunction(state_->module, InferredIfCan(Renamed(f, name), state_->module));
  return Global(name);
}

absl::Status BlockBuilder::CheckUpdate(const std::string& name) const {
  if (!status().ok()) return status();
  if (state_->IsOpen(name)) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, " is still built; give it its output before it is updated"));
  }
  if (HasFunction(state_->module, name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the module has no function called ", name, "; add it by AddFunction"));
}

void BlockBuilder::UpdateFunction(const std::string& name, Function f,
                                  Place place) {
  absl::Status error = CheckUpdate(name);
  if (error.ok()) error = VerifyFunction(f, {.level = LevelOf(f)});
  if (!state_->Note(place, error)) return;
  f.name = name;
  PutFunction(state_->module, std::move(f));
}

void BlockBuilder::UpdateFunction(const std::string& name, GraphFunction f,
                                  Place place) {
  absl::Status error = CheckUpdate(name);
  if (error.ok() && !f) error = absl::InvalidArgumentError("a null function");
  if (error.ok()) error = CheckFunctionScopes(*f);
  if (!state_->Note(place, error)) return;
  PutFunction(state_->module, InferredIfCan(Renamed(f, name), state_->module));
}

Expr BlockBuilder::GetGlobalVar(const std::string& name, Place place) {
  if (!status().ok()) return Failed();
  if (HasFunction(state_->module, name)) return Global(name);
  state_->Note(place, absl::InvalidArgumentError(absl::StrCat(
                          "the module has no function called ", name,
                          state_->IsOpen(name)
                              ? " yet; give its parameters to BeginFunction"
                              : "; add it by AddFunction or BeginFunction")));
  return Failed();
}

std::string BlockBuilder::UniqueFunctionName(const std::string& hint) const {
  return kiln::UniqueFunctionName(state_->module, hint);
}

// --- Values.

BlockBuilder::Scope BlockBuilder::BeginDataflow(Place place) {
  OpenFunction* open = state_->OpenAt(place, "BeginDataflow");
  const int id = ++state_->last_id;
  const bool begun = open && state_->Note(place, open->BeginDataflow(id));
  return Scope(state_, begun ? id : 0, place);
}

Var BlockBuilder::EmitTo(Expr value, const std::string& name, bool is_output,
                         Place place) {
  OpenFunction* open = state_->OpenAt(place, is_output ? "EmitOutput" : "Emit");
  if (open) {
    absl::StatusOr<Var> var = open->Emit(value, name, is_output);
    if (state_->Note(place, var.status())) return *var;
  }
  return Var("failed", Object());
}

Var BlockBuilder::Emit(Expr value, std::string name, Place place) {
  return EmitTo(std::move(value), name, /*is_output=*/false, place);
}

Var BlockBuilder::EmitOutput(Expr value, std::string name, Place place) {
  return EmitTo(std::move(value), name.empty() ? "gv" : name,
                /*is_output=*/true, place);
}

Var BlockBuilder::MatchCast(Expr value, StructInfo info, std::string name,
                            Place place) {
  return Emit(Expr(new MatchCastNode(std::move(value), std::move(info))),
              std::move(name), place);
}

absl::StatusOr<Expr> BlockBuilder::Branch(FunctionRef<Expr()> body) {
  const int id = state_->open->id();
  state_->open->BeginBranch();
  const Expr value = body();
  if (!state_->open || state_->open->id() != id) {
    return absl::FailedPreconditionError(
        "a branch ends the function that it stands in");
  }
  return state_->open->EndBranch(status().ok() ? absl::StatusOr<Expr>(value)
                                               : status());
}

Var BlockBuilder::EmitIf(Expr condition, FunctionRef<Expr()> then_body,
                         FunctionRef<Expr()> else_body, std::string name,
                         Place place) {
  OpenFunction* open = state_->OpenAt(place, "EmitIf");
  if (!open) return Var("failed", Object());
  absl::StatusOr<Expr> flag = open->Operand(condition);
  absl::Status error = flag.status();
  if (error.ok() && !IsCondition(InfoOf(*flag))) {
    error = absl::InvalidArgumentError(absl::StrCat(
        open->name(), ": a condition is a bool of no dimensions, and this is ",
        PrintStructInfo(InfoOf(*flag))));
  }
  if (error.ok() && open->in_dataflow()) {
    error = absl::FailedPreconditionError(
        absl::StrCat(open->name(),
                     ": a branch stands outside of dataflow blocks; end the "
                     "block first"));
  }
  if (!state_->Note(place, error)) return Var("failed", Object());
  const absl::StatusOr<Expr> yes = Branch(then_body);
  if (!state_->Note(place, yes.status())) return Var("failed", Object());
  const absl::StatusOr<Expr> no = Branch(else_body);
  if (!state_->Note(place, no.status())) return Var("failed", Object());
  return Emit(Expr(new IfNode(*flag, *yes, *no)), std::move(name), place);
}

std::vector<Var> BlockBuilder::FreeVars() const {
  return state_->open ? state_->open->FreeVars() : std::vector<Var>();
}

std::vector<Var> BlockBuilder::EmitFields(Expr tuple, size_t count,
                                          Place place) {
  const Var whole = tuple.As<VarNode>() ? Var(tuple.As<VarNode>())
                                        : Emit(std::move(tuple), "", place);
  const StructInfo& info = whole->info;
  const auto* fields = info.As<TupleInfo>();
  if (status().ok() && (!fields || fields->fields.size() != count)) {
    state_->Note(place, absl::InvalidArgumentError(absl::StrCat(
                            whole->name, " is no tuple of ", count, " but ",
                            PrintStructInfo(info ? info : Object()))));
  }
  std::vector<Var> vars;
  for (size_t i = 0; i < count; ++i) {
    vars.push_back(Emit(Item(whole, static_cast<int>(i)), "", place));
  }
  return vars;
}

// --- Formulas.

te::Tensor BlockBuilder::TeInputs::TakeTensor(const Expr& arg) {
  const te::Tensor none = te::Placeholder({}, DType::Float(32), "none");
  State& state = *builder_->state_;
  OpenFunction* open = state.OpenAt(place_, "a formula");
  if (!open) return none;
  const absl::StatusOr<Expr> operand = open->Operand(arg);
  if (!state.Note(place_, operand.status())) return none;
  const auto* var = operand->As<VarNode>();
  const std::string name =
      var ? var->name
          : std::string(1, static_cast<char>('A' + tensors_.size() % 26));
  const absl::StatusOr<te::Tensor> tensor =
      PlaceholderFor(InfoOf(*operand), name);
  if (!tensor.ok()) {
    state.Note(place_, absl::InvalidArgumentError(absl::StrCat(
                           open->name(), ": ", tensor.status().message(),
                           "; give numbers and extents as such, and the "
                           "fields of a tuple by EmitFields")));
    return none;
  }
  args_.push_back(*operand);
  tensors_.push_back(*tensor);
  return *tensor;
}

Expr BlockBuilder::CallTensors(const Named& name, const TeInputs& inputs,
                               TeOutputs outputs) {
  OpenFunction* open = state_->OpenAt(name.place, "a formula");
  if (!open) return Failed();
  absl::Status error = outputs.outputs.status();
  if (error.ok()) error = CheckName(name.name);
  if (error.ok() && outputs.outputs->empty()) {
    error = absl::InvalidArgumentError("the formula gives no tensor");
  }
  for (size_t i = 0; error.ok() && i < outputs.outputs->size(); ++i) {
    const te::Tensor& output = (*outputs.outputs)[i];
    error = CheckInfo(Tensor(output.shape(), output.dtype()),
                      "what the formula gives");
  }
  absl::StatusOr<Expr> call = Failed();
  if (error.ok()) {
    call = kiln::CallTensors(name.name, inputs.args(), inputs.tensors(),
                             *outputs.outputs, state_->module,
                             outputs.layout_free);
    error = call.status();
  }
  if (error.ok()) return *call;
  state_->Note(
      name.place,
      absl::Status(error.code(), absl::StrCat(open->name(), ": ", name.name,
                                              ": ", error.message())));
  return Failed();
}

// --- The module.

absl::StatusOr<Module> BlockBuilder::Finish() const {
  KILN_RETURN_IF_ERROR(status());
  if (state_->open) {
    return absl::FailedPreconditionError(
        absl::StrCat(PlaceText(state_->begun), ": ", state_->open->name(),
                     ": the function that begins here is still open; end it by "
                     "EmitFuncOutput"));
  }
  KILN_RETURN_IF_ERROR(CheckWholeModule(state_->module));
  return InferModule(state_->module);
}

}  // namespace kiln::graph
