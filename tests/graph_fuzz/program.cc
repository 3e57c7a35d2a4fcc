// A function is written binding by binding. What a call gives is inferred at
// once, in a module of its own; a call that is refused is drawn again:
//
//   @R.function
//   def main(p0: R.Tensor((2, "n"), dtype="float32"), p1: ...):
//       n = T.int64()
//       with R.dataflow():
//           v2 = R.tanh(p0)
//           v3 = cls.f0(v2, p1)
//           R.output(v2, v3)
//       if p4:
//           ...
//       return (v3, v6)
#include "kiln/tests/graph_fuzz/program.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/tests/graph_fuzz/calls.h"
#include "kiln/tests/graph_fuzz/scene.h"
#include "kiln/tests/graph_fuzz/shape_calls.h"

namespace kiln {
namespace {

constexpr double kMostBound = 200;
constexpr double kMostOfBytes = 100;
constexpr int64_t kMostElements = 600;

bool IsSimple(const Expr& extent) {
  return AsInt(extent) || extent.As<VarNode>();
}

bool HasSimpleExtents(const FuzzValue& value) {
  return std::all_of(value.extents().begin(), value.extents().end(), IsSimple);
}

class ProgramWriter {
 public:
  explicit ProgramWriter(uint64_t seed) : random_(seed, 7) {}

  std::string Write();

 private:
  // The lines of a function, and in which block the next one goes.
  struct Body {
    std::string lines;
    std::string indent = "    ";
    std::vector<std::string> outputs;  // of the dataflow block that is open
    bool is_dataflow = false;
  };

  uint64_t NextSeed() { return random_(); }
  void AddParams(Scene& scene);
  std::string Extent(Scene& scene);

  void Open(Body& body);
  void Close(Body& body);
  void Emit(Body& body, const std::string& name, const std::string& value);

  void Step(Scene& scene, Body& body, int depth);
  void Call(Scene& scene, Body& body);
  void Branch(Scene& scene, Body& body);
  std::string Arm(Scene& scene, const FuzzValue& like,
                  const std::string& result, const std::string& indent);
  void Tuple(Scene& scene, Body& body);
  void Cast(Scene& scene, Body& body);
  void CallFunction(Scene& scene, Body& body);
  std::string Result(Scene& scene);
  std::string FunctionText(const Scene& scene, const Body& body,
                           const std::string& header,
                           const std::string& result);

  Random random_;
  std::vector<std::string> functions_;
};

// --- Lines.

void ProgramWriter::Open(Body& body) {
  absl::StrAppend(&body.lines, "    with R.dataflow():\n");
  body.indent = "        ";
  body.is_dataflow = true;
}

void ProgramWriter::Close(Body& body) {
  if (!body.is_dataflow) return;
  if (body.outputs.empty()) {
    absl::StrAppend(&body.lines, body.indent, "none = R.tuple()\n");
    body.outputs.push_back("none");
  }
  absl::StrAppend(&body.lines, body.indent, "R.output(",
                  absl::StrJoin(body.outputs, ", "), ")\n");
  body.indent = "    ";
  body.outputs.clear();
  body.is_dataflow = false;
}

void ProgramWriter::Emit(Body& body, const std::string& name,
                         const std::string& value) {
  absl::StrAppend(&body.lines, body.indent, name, " = ", value, "\n");
  if (body.is_dataflow) body.outputs.push_back(name);
}

// --- Bindings.

// Draws until a call is accepted.
std::optional<std::pair<FuzzCall, graph::StructInfo>> AcceptedCall(
    Scene& scene) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::optional<FuzzCall> call = DrawCall(scene);
    if (!call || call->bound > kMostBound) continue;
    const graph::StructInfo info = scene.Infer(call->text, call->operands);
    if (!info || !IsKnownTensor(info)) continue;
    const FuzzValue value{"", info};
    if (MostElements(value) > kMostElements) continue;
    if (value.dtype().bits() == 8 && call->bound > kMostOfBytes) continue;
    return std::pair(*std::move(call), info);
  }
  return std::nullopt;
}

void ProgramWriter::Call(Scene& scene, Body& body) {
  const auto accepted = AcceptedCall(scene);
  if (!accepted) return;
  const auto& [call, info] = *accepted;
  const std::string name = scene.NewName("v");
  Emit(body, name, call.text);
  scene.values.push_back({name, info, call.bound, call.exact});
}

// Bindings of its own, and a value like `like` as `result`.
std::string ProgramWriter::Arm(Scene& scene, const FuzzValue& like,
                               const std::string& result,
                               const std::string& indent) {
  const std::vector<FuzzValue> outer = scene.values;
  Body arm;
  arm.indent = indent;
  for (int64_t i = scene.Below(3); i > 0; --i) Call(scene, arm);
  const FuzzCall last = DrawUnary(scene, like);
  Emit(arm, result, last.text);
  // Parameters that the arm asked for stay.
  std::vector<FuzzValue> kept = outer;
  for (const FuzzValue& value : scene.values) {
    const bool is_param = value.name[0] == 'p';
    const bool is_known = std::any_of(
        kept.begin(), kept.end(),
        [&](const FuzzValue& other) { return other.name == value.name; });
    if (is_param && !is_known) kept.push_back(value);
  }
  scene.values = std::move(kept);
  return arm.lines;
}

void ProgramWriter::Branch(Scene& scene, Body& body) {
  const std::optional<FuzzValue> like = scene.Some({});
  if (!like) return;
  Close(body);
  Wanted flag;
  flag.kind = Wanted::Kind::kBool;
  flag.rank = 0;
  std::optional<FuzzValue> condition = scene.Some(flag);
  if (!condition || scene.OneIn(3)) {
    condition = scene.NewParam("R.Tensor((), dtype=\"bool\")");
  }
  const std::string name = scene.NewName("v");
  const std::string inner = body.indent + "    ";
  const std::string yes = Arm(scene, *like, name, inner);
  const std::string no = Arm(scene, *like, name, inner);
  absl::StrAppend(&body.lines, body.indent, "if ", condition->name, ":\n", yes,
                  body.indent, "else:\n", no);
  scene.values.push_back({name, like->info, std::max(1.0, like->bound), false});
}

void ProgramWriter::Tuple(Scene& scene, Body& body) {
  const std::optional<FuzzValue> a = scene.Some({}), b = scene.Some({});
  if (!a || !b) return;
  const std::string tuple = scene.NewName("t"), item = scene.NewName("v");
  Emit(body, tuple,
       absl::StrCat("(", a->name, ", (", b->name, ", ", a->name, "))"));
  Emit(body, item, absl::StrCat(tuple, "[1][0]"));
  scene.values.push_back({item, b->info, b->bound, b->exact});
}

// An extent that is known gets a name.
void ProgramWriter::Cast(Scene& scene, Body& body) {
  Wanted wanted;
  wanted.min_rank = 1;
  const std::optional<FuzzValue> x = scene.Some(wanted);
  if (!x || MostElements(*x) > kMostElements / 10) return;
  std::vector<std::string> extents;
  for (const Expr& extent : x->extents()) extents.push_back(ExtentText(extent));
  const int64_t at = scene.Below(x->rank());
  if (MostOf(x->extents()[at]) > kMostExtent) return;
  const std::string dim = scene.NewName("k");
  extents[at] = dim;
  const std::string cast = absl::StrCat(
      "R.match_cast(", x->name, ", R.Tensor((", absl::StrJoin(extents, ", "),
      ",), dtype=\"", x->dtype().ToString(), "\"))");
  scene.dims.push_back(dim);
  const graph::StructInfo info = scene.Infer(cast, {*x});
  if (!info || !IsKnownTensor(info)) {
    scene.dims.pop_back();
    return;
  }
  const std::string name = scene.NewName("v");
  Emit(body, name, cast);
  scene.values.push_back({name, info, x->bound, x->exact});
}

// --- Functions.

std::string ProgramWriter::FunctionText(const Scene& scene, const Body& body,
                                        const std::string& header,
                                        const std::string& result) {
  std::string text = absl::StrCat("    ", header, "(",
                                  absl::StrJoin(scene.params, ", "), "):\n");
  const std::string inner =
      absl::StrCat(scene.Declarations(), "    cls = Module\n", body.lines,
                   "    return ", result, "\n");
  for (size_t begin = 0; begin < inner.size();) {
    const size_t end = inner.find('\n', begin);
    absl::StrAppend(&text, "    ", inner.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  return text;
}

// Adds the dimensions that the extents of `value` mention.
void AddDims(const FuzzValue& value, std::vector<std::string>& dims) {
  for (const Expr& extent : value.extents()) {
    const auto* var = extent.As<VarNode>();
    if (!var) continue;
    if (std::find(dims.begin(), dims.end(), var->name) == dims.end()) {
      dims.push_back(var->name);
    }
  }
}

void ProgramWriter::CallFunction(Scene& scene, Body& body) {
  std::vector<std::string> args;
  Scene callee(NextSeed());
  for (int64_t i = 1 + scene.Below(3); i > 0; --i) {
    const std::optional<FuzzValue> arg = scene.Some({});
    if (!arg || !HasSimpleExtents(*arg)) continue;
    const std::string name = callee.NewName("p");
    AddDims(*arg, callee.dims);
    callee.params.push_back(absl::StrCat(name, ": ", ParamText(arg->info)));
    callee.values.push_back({name, arg->info, arg->bound, arg->exact});
    args.push_back(arg->name);
  }
  if (args.empty()) return;
  const size_t given = callee.params.size();
  Body inner;
  if (callee.OneIn(2)) Open(inner);
  for (int64_t i = 1 + callee.Below(3); i > 0; --i) Call(callee, inner);
  Close(inner);
  const FuzzValue result = callee.values.back();
  for (size_t i = given; i < callee.params.size(); ++i) {
    const std::string& param = callee.params[i];
    args.push_back(scene.NewParam(param.substr(param.find(": ") + 2)).name);
  }
  const std::string f = absl::StrCat("f", functions_.size());
  functions_.push_back(FunctionText(
      callee, inner, absl::StrCat("@R.function(private=True)\n    def ", f),
      result.name));
  const std::string name = scene.NewName("v");
  Emit(body, name,
       absl::StrCat("cls.", f, "(", absl::StrJoin(args, ", "), ")"));
  scene.values.push_back({name, result.info, result.bound, result.exact});
}

void ProgramWriter::Step(Scene& scene, Body& body, int depth) {
  if (depth == 0 && scene.OneIn(5)) {
    body.is_dataflow ? Close(body) : Open(body);
  }
  switch (scene.Below(16)) {
    case 0:
      return Branch(scene, body);
    case 1:
      return Tuple(scene, body);
    case 2:
      return Cast(scene, body);
    case 3:
      return CallFunction(scene, body);
    default:
      return Call(scene, body);
  }
}

std::string ProgramWriter::Extent(Scene& scene) {
  if (scene.OneIn(4)) return absl::StrCat("\"", scene.One(scene.dims), "\"");
  return absl::StrCat(scene.One(std::vector<int>{1, 2, 2, 3, 4}));
}

void ProgramWriter::AddParams(Scene& scene) {
  static const auto& dtypes = *new std::vector<std::string>{
      "float32", "float32", "float32", "float32", "int32", "int64",
      "bool",    "float64", "float16", "int8",    "uint8"};
  for (int64_t i = 1 + scene.Below(4); i > 0; --i) {
    std::vector<std::string> extents;
    for (int64_t d = scene.Below(5); d > 0; --d) {
      extents.push_back(Extent(scene));
    }
    const std::string comma = extents.empty() ? "" : ",";
    scene.NewParam(absl::StrCat("R.Tensor((", absl::StrJoin(extents, ", "),
                                comma, "), dtype=\"", scene.One(dtypes),
                                "\")"));
  }
}

std::string ProgramWriter::Result(Scene& scene) {
  const std::string last = scene.values.back().name;
  if (scene.OneIn(2)) return last;
  const std::string a = scene.Some({})->name, b = scene.Some({})->name;
  if (scene.OneIn(2)) return absl::StrCat("(", a, ", ", last, ")");
  return absl::StrCat("(", last, ", (", b, ", ", a, "))");
}

std::string ProgramWriter::Write() {
  Scene scene(NextSeed());
  scene.dims = {"n", "m"};
  AddParams(scene);
  Body body;
  for (int64_t i = 2 + scene.Below(8); i > 0; --i) Step(scene, body, 0);
  Close(body);
  const std::string used = absl::StrJoin(scene.params, ", ");
  for (const char* dim : {"n", "m"}) {
    if (used.find(absl::StrCat("\"", dim, "\"")) != used.npos) continue;
    scene.dims.erase(std::find(scene.dims.begin(), scene.dims.end(), dim));
  }
  const std::string result = Result(scene);
  functions_.push_back(
      FunctionText(scene, body, "@R.function\n    def main", result));
  return absl::StrCat("@I.ir_module\nclass Module:\n",
                      absl::StrJoin(functions_, "\n"));
}

}  // namespace

std::string RandomGraphProgram(uint64_t seed) {
  return ProgramWriter(seed).Write();
}

}  // namespace kiln
