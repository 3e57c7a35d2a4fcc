#include "kiln/schedule/trace/instruction.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/sum_order.h"
#include "kiln/schedule/trace/table.h"
#include "kiln/schedule/trace/tuple.h"

namespace kiln {
namespace {

std::vector<InstructionKind> MakeTable() {
  std::vector<InstructionKind> table;
  for (auto make : {LookupRows, SampleRows, LoopRows, PlaceRows, LayoutRows,
                    RewriteRows, NoteRows}) {
    for (InstructionKind& row : make()) table.push_back(std::move(row));
  }
  return table;
}

using NameIndex = std::unordered_map<std::string_view, const InstructionKind*>;

NameIndex MakeIndex() {
  NameIndex index;
  for (const InstructionKind& kind : InstructionTable()) {
    index[kind.name] = &kind;
    for (std::string_view alias : kind.aliases) index[alias] = &kind;
  }
  return index;
}

bool IsRv(const Arg& arg, RvKind kind) {
  return arg.rv() && arg.rv()->kind == kind;
}

bool IsInt(const Arg& arg) {
  return arg.integer() || IsRv(arg, RvKind::kInt) || arg.arithmetic();
}

bool IsFactor(const Arg& arg) { return arg.is_none() || IsInt(arg); }

bool IsNumber(const Arg& arg) { return arg.real() || arg.integer(); }

template <typename F>
bool IsListOf(const Arg& arg, const F& fits) {
  return arg.list() &&
         std::all_of(arg.list()->begin(), arg.list()->end(), fits);
}

bool IsBufferRef(const Arg& arg) {
  if (arg.string()) return true;
  if (!arg.list() || arg.list()->size() != 2) return false;
  const std::string* side = (*arg.list())[0].string();
  return side && (*side == "read" || *side == "write") &&
         (*arg.list())[1].integer();
}

bool IsAttr(const Arg& arg) {
  if (IsListOf(arg, IsAttr)) return true;
  if (arg.dict()) {
    return std::all_of(arg.dict()->begin(), arg.dict()->end(),
                       [](const auto& item) { return IsAttr(item.second); });
  }
  return arg.boolean() || arg.real() || arg.string() || arg.is_none() ||
         IsInt(arg);
}

bool Fits(const Arg& arg, ParamKind kind) {
  const auto is_block = [](const Arg& a) { return IsRv(a, RvKind::kBlock); };
  const auto is_loop = [](const Arg& a) { return IsRv(a, RvKind::kLoop); };
  switch (kind) {
    case ParamKind::kBlock:
      return is_block(arg);
    case ParamKind::kLoop:
      return is_loop(arg);
    case ParamKind::kBlockOrLoop:
      return is_block(arg) || is_loop(arg);
    case ParamKind::kLoops:
      return IsListOf(arg, is_loop);
    case ParamKind::kBlocks:
      return IsListOf(arg, is_block);
    case ParamKind::kInt:
      return IsInt(arg);
    case ParamKind::kFactors:
      return IsListOf(arg, IsFactor);
    case ParamKind::kInts:
      return IsListOf(arg, IsInt);
    case ParamKind::kTuples:
      return AreTuples(arg);
    case ParamKind::kFloats:
      return IsListOf(arg, IsNumber);
    case ParamKind::kBool:
      return arg.boolean();
    case ParamKind::kString:
      return arg.string();
    case ParamKind::kBufferIndex:
      return arg.integer() || arg.string();
    case ParamKind::kBufferRef:
      return IsBufferRef(arg);
    case ParamKind::kIndexMap:
      return arg.index_map() && !arg.index_map()->pairs;
    case ParamKind::kRanges:
      return arg.index_map() && arg.index_map()->pairs;
    case ParamKind::kPadValue:
      return arg.is_none() || arg.integer() || arg.real() || arg.index_map();
    case ParamKind::kAttr:
      return IsAttr(arg);
  }
  return false;
}

std::string_view Describe(ParamKind kind) {
  switch (kind) {
    case ParamKind::kBlock:
      return "a block";
    case ParamKind::kLoop:
      return "a loop";
    case ParamKind::kBlockOrLoop:
      return "a block or a loop";
    case ParamKind::kLoops:
      return "loops";
    case ParamKind::kBlocks:
      return "a list of blocks";
    case ParamKind::kInt:
      return "an integer";
    case ParamKind::kFactors:
      return "a list of integers or None";
    case ParamKind::kInts:
      return "a list of integers";
    case ParamKind::kTuples:
      return "a list of lists of integers, as long as each other";
    case ParamKind::kFloats:
      return "a list of numbers";
    case ParamKind::kBool:
      return "True or False";
    case ParamKind::kString:
      return "a string";
    case ParamKind::kBufferIndex:
      return "an index or the name of a buffer";
    case ParamKind::kBufferRef:
      return "(\"read\", index), (\"write\", index) or the name of a buffer";
    case ParamKind::kIndexMap:
      return "a lambda that gives indices";
    case ParamKind::kRanges:
      return "a lambda that gives a list of (begin, end)";
    case ParamKind::kPadValue:
      return "None, a number or a lambda that gives one";
    case ParamKind::kAttr:
      return "a number, a string, or a list or dictionary of them";
  }
  return "";
}

}  // namespace

const std::vector<InstructionKind>& InstructionTable() {
  static const auto& table = *new std::vector<InstructionKind>(MakeTable());
  return table;
}

const InstructionKind* FindInstruction(std::string_view name) {
  static const auto& index = *new NameIndex(MakeIndex());
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

absl::Status CheckArgs(const InstructionKind& kind,
                       const std::vector<Arg>& args) {
  if (args.size() != kind.params.size()) {
    return BadArgument(kind.name,
                       absl::StrCat("it takes ", kind.params.size(),
                                    " arguments, not ", args.size()));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (Fits(args[i], kind.params[i].kind)) continue;
    return BadArgument(
        kind.name, absl::StrCat("argument `", std::string(kind.params[i].name),
                                "` has to be ",
                                std::string(Describe(kind.params[i].kind))));
  }
  return absl::OkStatus();
}

ApplyContext::ApplyContext(const Instruction& instruction, State* state,
                           Decision decision, uint64_t seed, uint64_t stream)
    : instruction_(instruction),
      state_(state),
      decision_(std::move(decision)),
      random_(seed, stream) {}

int64_t ApplyContext::Use(const Rv& rv) {
  const RvValue& value = state_->rvs[rv.index];
  if (rv.kind != RvKind::kInt) {
    mixed_ |= function_ >= 0 && function_ != value.function;
    function_ = value.function;
  }
  return value.value;
}

absl::StatusOr<int64_t> ApplyContext::Evaluate(const Arg& arg) {
  if (arg.integer()) return *arg.integer();
  if (arg.rv()) return Use(*arg.rv());
  const RvArithmetic& e = *arg.arithmetic();
  KILN_ASSIGN_OR_RETURN(const int64_t a, Evaluate(e.a));
  KILN_ASSIGN_OR_RETURN(const int64_t b, Evaluate(e.b));
  const ExprKind op = e.op == '+'   ? ExprKind::kAdd
                      : e.op == '-' ? ExprKind::kSub
                      : e.op == '*' ? ExprKind::kMul
                      : e.op == '/' ? ExprKind::kFloorDiv
                                    : ExprKind::kFloorMod;
  int64_t result = 0;
  if (FoldInt(op, a, b, &result)) return result;
  return BadArgument(instruction_.kind->name,
                     absl::StrCat(a, " ", std::string(1, e.op), " ", b,
                                  " has no value in 64 bits"));
}

LoopId ApplyContext::loop(int i) { return Use(*arg(i).rv()); }
BlockId ApplyContext::block(int i) { return Use(*arg(i).rv()); }

std::vector<LoopId> ApplyContext::loops(int i) {
  std::vector<LoopId> ids;
  ids.reserve(arg(i).list()->size());
  for (const Arg& item : *arg(i).list()) ids.push_back(Use(*item.rv()));
  return ids;
}

std::vector<BlockId> ApplyContext::blocks(int i) { return loops(i); }

absl::StatusOr<int64_t> ApplyContext::integer(int i) {
  return Evaluate(arg(i));
}

absl::StatusOr<std::vector<std::optional<int64_t>>> ApplyContext::factors(
    int i) {
  std::vector<std::optional<int64_t>> values;
  values.reserve(arg(i).list()->size());
  for (const Arg& item : *arg(i).list()) {
    if (item.is_none()) {
      values.push_back(std::nullopt);
      continue;
    }
    KILN_ASSIGN_OR_RETURN(const int64_t value, Evaluate(item));
    values.push_back(value == -1 ? std::nullopt : std::optional(value));
  }
  return values;
}

absl::StatusOr<std::vector<int64_t>> ApplyContext::integers(int i) {
  std::vector<int64_t> values;
  for (const Arg& item : *arg(i).list()) {
    KILN_ASSIGN_OR_RETURN(const int64_t value, Evaluate(item));
    values.push_back(value);
  }
  return values;
}

std::vector<double> ApplyContext::floats(int i) {
  std::vector<double> values;
  for (const Arg& item : *arg(i).list()) {
    values.push_back(item.real() ? *item.real()
                                 : static_cast<double>(*item.integer()));
  }
  return values;
}

absl::StatusOr<Attr> ApplyContext::attr(int i) {
  return ToAttr(arg(i), [&](const Arg& item) { return Evaluate(item); });
}

IndexMap ApplyContext::index_map(int i) {
  const IndexMapArg& arg = *instruction_.args[i].index_map();
  if (arg.captured.empty()) return arg.map;
  VarMap values;
  for (const auto& [var, rv] : arg.captured) values[var.get()] = Int(Use(rv));
  IndexMap map = arg.map;
  for (Expr& e : map.outputs) e = Substitute(e, values);
  return map;
}

bool ApplyContext::is_loop(int i) const {
  return arg(i).rv()->kind == RvKind::kLoop;
}

absl::Status ApplyContext::UseFunction(const std::string& name) {
  for (size_t i = 0; i < state_->functions.size(); ++i) {
    if (state_->functions[i]->name != name) continue;
    function_ = static_cast<int>(i);
    return absl::OkStatus();
  }
  return Refusal(instruction_.kind->name,
                 absl::StrCat("the module has no function `", name, "`"));
}

absl::Status ApplyContext::status() const {
  if (!mixed_) return absl::OkStatus();
  return BadArgument(instruction_.kind->name,
                     "the arguments belong to different functions");
}

void ApplyContext::SetFunction(Function f) {
  if (order_status_.ok() && IsStrict(f)) {
    order_status_ = CheckSumOrder(function(), f, instruction_.kind->name);
  }
  state_->functions[function_] = std::make_shared<const Function>(std::move(f));
}

}  // namespace kiln
