// A function becomes a tree of code objects whose variables and buffers are
// slots of a frame; a run fills the slots of the parameters and runs the tree.
//
// The patterns of the signature that tell symbolic dimensions are put in an
// order in which each has at most one unknown. Patterns that are one variable
// come first; those with one unknown follow, as often as one is found, and all
// others are checks.
//
//   A: (n + m,), B: (2*n - k,), C: (k,)      called with 11, 5 and 1 elements
//     C tells k = 1;  B tells n = (5 + 1) / 2 = 3;  A tells m = 11 - 3 = 8
//   B with 6 elements is refused: 6 + 1 is no multiple of 2
//
// The order is found when the code is made, so that a function whose dimensions
// no shape tells, such as A: (n // 2,), is refused before it runs.
#include "kiln/ir/interp/interp.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/machine.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/interp/scope.h"
#include "kiln/ir/tensor/empty_reductions.h"

namespace kiln {

using interp_internal::DenseStrides;
using interp_internal::Frame;
using interp_internal::MatchCode;
using interp_internal::Scope;
using interp_internal::StmtPtr;
using interp_internal::Storage;
using interp_internal::Value;
using interp_internal::View;

namespace {

// An extent, stride or offset of an argument, and the code that matches it with
// its pattern in the signature.
struct Symbol {
  enum Kind { kExtent, kStride, kOffset } kind;
  size_t param;
  size_t dim;
  MatchCode code;
};

// A pattern of the signature, before its place in the order is known.
struct Pattern {
  Symbol::Kind kind;
  size_t param;
  size_t dim;
  Expr value;
  std::string what;
};

struct ParamInfo {
  std::string name;
  bool is_tensor = false;
  DType dtype;
  size_t rank = 0;
  int slot = 0;  // of the value or of the view
};

}  // namespace

struct Interpreter::Impl {
  explicit Impl(const Function& f) : function(f), scope(f.name) {}

  void Compile();
  void AddPatterns(size_t p, std::vector<Pattern>* patterns);
  void AddSymbols();
  absl::Status BindScalar(const ParamInfo& info, const Argument& arg,
                          Frame& frame) const;
  absl::Status BindTensor(const ParamInfo& info, const Argument& arg,
                          Frame& frame) const;
  absl::Status Bind(absl::Span<const Argument> args, Frame& frame) const;

  Function function;
  Scope scope;
  std::vector<ParamInfo> params;
  std::vector<Symbol> symbols;
  StmtPtr body;
};

void Interpreter::Impl::AddPatterns(size_t p, std::vector<Pattern>* patterns) {
  const BufferNode& buffer = *function.params[p].buffer;
  auto add = [&](Symbol::Kind kind, const Expr& pattern, size_t d,
                 const char* what) {
    patterns->push_back(
        {kind, p, d, pattern,
         absl::StrCat(what, " ", d, " of argument ", buffer.name)});
  };
  for (size_t d = 0; d < buffer.shape.size(); ++d) {
    add(Symbol::kExtent, buffer.shape[d], d, "dimension");
  }
  for (size_t d = 0; d < buffer.strides.size(); ++d) {
    add(Symbol::kStride, buffer.strides[d], d, "stride");
  }
  if (buffer.elem_offset) {
    add(Symbol::kOffset, buffer.elem_offset, 0, "offset");
  }
}

// Orders the patterns: single variables, those with one unknown variable for as
// long as there are any, and the checks.
void Interpreter::Impl::AddSymbols() {
  std::vector<Pattern> patterns;
  for (size_t p = 0; p < params.size(); ++p) {
    if (params[p].is_tensor) AddPatterns(p, &patterns);
  }
  auto add_those = [&](auto is_next) {
    std::vector<Pattern> others;
    for (Pattern& pattern : patterns) {
      if (!is_next(pattern.value)) {
        others.push_back(std::move(pattern));
        continue;
      }
      symbols.push_back({pattern.kind, pattern.param, pattern.dim,
                         MatchCode(pattern.value, pattern.what, scope)});
    }
    const bool any = others.size() < patterns.size();
    patterns = std::move(others);
    return any;
  };
  add_those([](const Expr& e) { return e.kind() == ExprKind::kVar; });
  while (add_those([&](const Expr& e) {
    return bool(interp_internal::SolvedBy(e, scope));
  })) {
  }
  add_those([](const Expr&) { return true; });
}

void Interpreter::Impl::Compile() {
  for (const Param& param : function.params) {
    ParamInfo info;
    const int slot = param.var ? scope.Define(param.var) : 0;
    if (param.buffer) {
      info = {param.buffer->name, true, param.buffer->dtype,
              param.buffer->shape.size(), scope.Define(param.buffer)};
    } else {
      info = {param.var.name(), false, param.var.dtype(), 0, slot};
    }
    params.push_back(std::move(info));
  }
  AddSymbols();
  if (!function.body) {
    return scope.Fail(absl::StatusCode::kInvalidArgument, "no body");
  }
  body = interp_internal::CompileStmt(function.body, scope);
}

absl::Status Interpreter::Impl::BindScalar(const ParamInfo& info,
                                           const Argument& arg,
                                           Frame& frame) const {
  Value& value = frame.slots[info.slot];
  const auto* i = std::get_if<int64_t>(&arg);
  const auto* f = std::get_if<double>(&arg);
  if (i && info.dtype.is_integral()) {
    value.i = WrapInt(info.dtype, *i);
  } else if (f && info.dtype.is_float()) {
    value.f = RoundReal(info.dtype, *f);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat(function.name, ": argument ", info.name,
                     " should be a scalar of type ", info.dtype.ToString()));
  }
  return absl::OkStatus();
}

absl::Status Interpreter::Impl::BindTensor(const ParamInfo& info,
                                           const Argument& arg,
                                           Frame& frame) const {
  auto* const* tensor = std::get_if<Tensor*>(&arg);
  int64_t bytes;
  if (!tensor || (*tensor)->dtype != info.dtype ||
      (*tensor)->shape.size() != info.rank) {
    return absl::InvalidArgumentError(absl::StrCat(
        function.name, ": argument ", info.name, " should be a tensor of ",
        info.dtype.ToString(), " with ", info.rank, " dimensions",
        tensor ? absl::StrCat(", not of ", (*tensor)->dtype.ToString(),
                              " with ", (*tensor)->shape.size())
               : ""));
  }
  Tensor& t = **tensor;
  if (!interp_internal::ByteSize(t.shape, t.dtype.bytes(), &bytes) ||
      bytes != static_cast<int64_t>(t.bytes.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat(function.name, ": argument ", info.name,
                     " does not hold what its shape (",
                     absl::StrJoin(t.shape, ", "), ") says"));
  }
  View& view = frame.views[info.slot];
  view.storage = std::make_shared<Storage>();
  view.storage->data = t.bytes.data();
  view.storage->size = bytes;
  view.dtype = t.dtype;
  view.bytes = t.dtype.bytes();
  view.shape = t.shape;
  view.strides = DenseStrides(t.shape);
  return absl::OkStatus();
}

absl::Status Interpreter::Impl::Bind(absl::Span<const Argument> args,
                                     Frame& frame) const {
  if (args.size() != params.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(function.name, " takes ", params.size(),
                     " arguments, not ", args.size()));
  }
  for (size_t p = 0; p < params.size(); ++p) {
    KILN_RETURN_IF_ERROR(params[p].is_tensor
                             ? BindTensor(params[p], args[p], frame)
                             : BindScalar(params[p], args[p], frame));
  }
  for (const Symbol& symbol : symbols) {
    const View& view = frame.views[params[symbol.param].slot];
    int64_t value = 0;
    if (symbol.kind == Symbol::kExtent) value = view.shape[symbol.dim];
    if (symbol.kind == Symbol::kStride) value = view.strides[symbol.dim];
    if (!symbol.code.Match(frame, value)) return frame.status;
  }
  return absl::OkStatus();
}

Interpreter::Interpreter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Interpreter::Interpreter(Interpreter&&) noexcept = default;
Interpreter& Interpreter::operator=(Interpreter&&) noexcept = default;
Interpreter::~Interpreter() = default;

absl::StatusOr<Interpreter> Interpreter::Create(const Function& f) {
  auto impl = std::make_unique<Impl>(BeginEmptyReductions(f));
  impl->Compile();
  if (!impl->scope.status().ok()) return impl->scope.status();
  return Interpreter(std::move(impl));
}

absl::Status Interpreter::Run(absl::Span<const Argument> args,
                              const InterpOptions& options) const {
  interp_internal::Run run{&options, options.max_steps, impl_->function.name};
  Frame frame;
  frame.run = &run;
  frame.slots.resize(impl_->scope.value_count() + 1);
  frame.views.resize(impl_->scope.view_count() + 1);
  KILN_RETURN_IF_ERROR(impl_->Bind(args, frame));
  impl_->body->Run(frame);
  return frame.status;
}

absl::Status Interpret(const Function& f, std::vector<Tensor>& args,
                       const InterpOptions& options) {
  KILN_ASSIGN_OR_RETURN(Interpreter interpreter, Interpreter::Create(f));
  std::vector<Argument> arguments;
  for (Tensor& tensor : args) arguments.push_back(&tensor);
  return interpreter.Run(arguments, options);
}

}  // namespace kiln
