// A row states the text of a call and what its operands have to be, by a word
// for each: a letter (a any tensor, n a number, f a float, i an integer, b a
// bool), a digit for a rank, + for that rank or more, = for the type of the
// first operand, ! for elements without rounding behind them, where a rounded
// last digit could change the result by more than a digit, ^ for at least one
// element whatever dimensions are:
//
//   {"R.floor({0})", "f!", Keeps}      {"R.add({0}, {1})", "n n=", Adds}
//
// {axis}, {keep}, {one} and others in braces are drawn.
#include "kiln/tests/graph_fuzz/calls.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "kiln/tests/graph_fuzz/shape_calls.h"

namespace kiln {
namespace {

using Values = std::vector<FuzzValue>;

// --- How large elements of the result may become.

double One(const Values&) { return 1; }
double Two(const Values&) { return 2; }
double Keeps(const Values& v) {
  double bound = 0;
  for (const FuzzValue& value : v) bound = std::max(bound, value.bound);
  return bound;
}
double Adds(const Values& v) {
  double bound = 0;
  for (const FuzzValue& value : v) bound += value.bound;
  return bound;
}
double Increments(const Values& v) { return v[0].bound + 1; }
double Multiplies(const Values& v) {
  double bound = 1;
  for (const FuzzValue& value : v) bound *= value.bound;
  return bound;
}
double Squares(const Values& v) { return v[0].bound * v[0].bound; }
double Exponentiates(const Values& v) { return std::exp(v[0].bound); }
double AddsAll(const Values& v) { return v[0].bound * MostElements(v[0]); }
double MultipliesAll(const Values& v) {
  return v[0].bound <= 1 ? 1 : std::pow(v[0].bound, MostElements(v[0]));
}
double Dots(const Values& v) {
  return v[0].bound * v[1].bound *
         (v[0].rank() == 0 ? 1 : MostOf(v[0].extents().back()));
}
double Counts(const Values& v) {
  return std::max(1.0, static_cast<double>(MostElements(v[0])));
}
double Normalizes(const Values& v) { return 4 * (1 + Adds(v)) * (1 + Adds(v)); }

struct CallRow {
  const char* text;
  const char* operands;
  double (*bound)(const Values&);
  bool rounds = false;
};

constexpr CallRow kRows[] = {
    {"R.abs({0})", "n", Keeps},
    {"R.negative({0})", "n", Keeps},
    {"R.nn.relu({0})", "n", Keeps},
    {"R.sign({0})", "n!", One},
    {"R.square({0})", "n", Squares},
    {"R.floor({0})", "f!", Increments},
    {"R.ceil({0})", "f!", Increments},
    {"R.trunc({0})", "f!", Keeps},
    {"R.round({0})", "f!", Increments},
    {"R.clip({0}, -1, 2)", "n", Two},
    {"R.tanh({0})", "f", One, true},
    {"R.sigmoid({0})", "f", One, true},
    {"R.erf({0})", "f", One, true},
    {"R.sin({0})", "f", One, true},
    {"R.cos({0})", "f", One, true},
    {"R.atan({0})", "f", Two, true},
    {"R.asinh({0})", "f", Keeps, true},
    {"R.exp({0})", "f", Exponentiates, true},
    {"R.log(R.add(R.abs({0}), {one}))", "f", Keeps, true},
    {"R.sqrt(R.add(R.abs({0}), {one}))", "f", Increments, true},
    {"R.rsqrt(R.add(R.abs({0}), {one}))", "f", One, true},
    {"R.nn.silu({0})", "f", Keeps, true},
    {"R.nn.gelu({0})", "f", Keeps, true},
    {"R.nn.leakyrelu({0}, alpha=0.1)", "f", Keeps, true},
    {"R.nn.softplus({0})", "f", Increments, true},
    {"R.nn.softmax({0}, axis={axis})", "f1+", One, true},
    {"R.nn.log_softmax({0}, axis={axis})", "f1+", Adds, true},
    {"R.logical_not({0})", "b", One},
    {"R.bitwise_not({0})", "i", Increments},
    {"R.isnan({0})", "f", One},
    {"R.isfinite({0})", "f", One},
    {"R.astype({0}, \"{float}\")", "a", Keeps, true},
    {"R.astype({0}, \"{integer}\")", "a!", Keeps},
    {"R.astype({0}, \"bool\")", "a!", One},

    {"R.add({0}, {1})", "n n=", Adds, true},
    {"R.subtract({0}, {1})", "n n=", Adds, true},
    {"R.multiply({0}, {1})", "n n=", Multiplies, true},
    {"R.divide({0}, R.add(R.abs({1}), {one}))", "f f=", Keeps, true},
    {"R.maximum({0}, {1})", "n n=", Keeps},
    {"R.minimum({0}, {1})", "n n=", Keeps},
    {"R.add({0}, {one})", "n", Increments, true},
    {"R.multiply({0}, {two})", "n", Adds, true},
    {"R.power({0}, {two})", "f", Squares, true},
    {"R.floor_divide({0}, {two})", "n!", Increments},
    {"R.floor_mod({0}, {two})", "n!", Two},
    {"R.atan2({0}, R.add(R.abs({1}), {one}))", "f f=", Two, true},
    {"R.greater({0}, {1})", "n! n!=", One},
    {"R.less_equal({0}, {1})", "n! n!=", One},
    {"R.equal({0}, {1})", "n! n!=", One},
    {"R.logical_and({0}, {1})", "b b", One},
    {"R.logical_xor({0}, {1})", "b b", One},
    {"R.bitwise_and({0}, {1})", "i i=", Adds},
    {"R.bitwise_xor({0}, {1})", "i i=", Adds},
    {"R.where({0}, {1}, {2})", "b n n=1", Keeps},
    {"R.ewise_fma({0}, {1}, {1})", "f f=", Normalizes, true},

    {"R.sum({0}, axis={axes}, keepdims={keep})", "n1+", AddsAll, true},
    {"R.mean({0}, axis={axes}, keepdims={keep})", "f1+", Keeps, true},
    {"R.max({0}, axis={axes}, keepdims={keep})", "n1+", Keeps},
    {"R.min({0}, axis={axes}, keepdims={keep})", "n1+", Keeps},
    {"R.prod({0}, axis={axis}, keepdims={keep})", "n1+", MultipliesAll, true},
    {"R.variance({0}, axis={axes}, keepdims={keep})", "f1+", Squares, true},
    {"R.argmax({0}, axis={axis}, keepdims={keep})", "n!1+", Counts},
    {"R.cumsum({0}, axis={axis})", "n1+", AddsAll, true},

    {"R.matmul({0}, {1})", "f1+ f1+=", Dots, true},
    {"R.matmul({0}, R.permute_dims({1}))", "n2 n2=", Dots, true},
    {"R.matmul({0}, R.permute_dims({0}))", "f2", Dots, true},
    {"R.outer({0}, {1})", "n1 n1=", Multiplies, true},

    {"R.nn.layer_norm({0}, {1}, {2}, axes=[-1], epsilon=0.5)",
     "f1+ f1= f1=", Normalizes, true},
    {"R.nn.rms_norm({0}, {1}, axes=[-1], epsilon=0.5)", "f1+ f1=", Normalizes,
     true},
    {"R.nn.max_pool2d({0}, pool_size=[2, 2])", "f4", Keeps},
    {"R.nn.avg_pool2d({0}, pool_size=[2, 1])", "f4", Keeps, true},
    {"R.nn.adaptive_avg_pool2d({0}, output_size=[1, 1])", "f4", Keeps, true},
    {"R.nn.batch_flatten({0})", "a2+", Keeps},

    {"R.permute_dims({0}, axes={permutation})", "a1+", Keeps},
    {"R.flip({0}, axis={axis})", "a1+", Keeps},
    {"R.expand_dims({0}, axis={axis})", "a1+", Keeps},
    {"R.flatten({0})", "a", Keeps},
    {"R.squeeze({0})", "a1+", Keeps},
    {"R.concat(({0}, {1}), axis={axis})", "a1+ a1+=", Keeps},
    {"R.concat(({0}, {0}), axis={axis})", "a1+", Keeps},
    {"R.stack(({0}, {0}), axis={axis})", "a1+", Keeps},
    {"R.split({0}, 2, axis={axis})[1]", "a1+", Keeps},
    {"R.repeat({0}, 2, axis={axis})", "n1+", Keeps},
    {"R.tile({0}, [2, 1])", "n", Keeps},
    {"R.strided_slice({0}, axes=[{axis}], begin=[0], end=[2], strides=[1])",
     "n1+", Keeps},
    {"R.strided_slice({0}, axes=[{axis}], begin=[-1], end=[-4], strides=[-2])",
     "n1+", Keeps},
    {"R.tril({0}, 0)", "n2+", Keeps},
    {"R.triu({0}, 1)", "n2+", Keeps},
    {"R.take({0}, {1}, axis={axis}, mode=\"clip\")", "n1+^ i!1", Keeps},
    {"R.take({0}, {1}, axis={axis}, mode=\"wrap\")", "n1+^ i!", Keeps},
    {"R.one_hot({0}, R.prim_value(T.float32(1)), R.prim_value(T.float32(0)), "
     "depth=3, axis=-1)",
     "i!", One},
    {"R.sort({0}, axis={axis})", "n1+", Keeps},
    {"R.argsort({0}, axis={axis})", "n!1+", Counts},
    {"R.nn.pad({0}, pad_width={pads}, pad_value=0.5)", "f1+", Keeps},
    {"R.zeros_like({0})", "n", One},
    {"R.ones_like({0})", "n", One},
    {"R.full_like({0}, {one})", "n", One},
};

// --- Operands.

Wanted WantedBy(const std::string& word, const Values& before) {
  Wanted wanted;
  switch (word[0]) {
    case 'f':
      wanted.kind = Wanted::Kind::kFloat;
      break;
    case 'i':
      wanted.kind = Wanted::Kind::kInteger;
      break;
    case 'b':
      wanted.kind = Wanted::Kind::kBool;
      break;
    case 'n':
      wanted.kind = Wanted::Kind::kNumber;
      break;
  }
  const bool is_least = word.find('+') != std::string::npos;
  const size_t digit = word.find_first_of("0123456789");
  if (digit != std::string::npos) {
    (is_least ? wanted.min_rank : wanted.rank) = word[digit] - '0';
  }
  wanted.exact = word.find('!') != std::string::npos;
  wanted.has_elements = word.find('^') != std::string::npos;
  if (word.find('=') != std::string::npos) {
    // The branches of a choice follow its condition.
    const bool chooses = before.size() > 1 && before[0].dtype().is_bool();
    const size_t like = chooses ? 1 : 0;
    wanted.dtype = before[like].dtype();
  }
  return wanted;
}

std::optional<Values> Operands(Scene& scene, const char* words) {
  Values operands;
  const std::vector<std::string> list = absl::StrSplit(words, ' ');
  for (const std::string& word : list) {
    const std::optional<FuzzValue> operand =
        scene.Some(WantedBy(word, operands));
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  }
  return operands;
}

// --- What stands in braces.

std::string Constant(int value, DType dtype) {
  return absl::StrCat("R.const(", value, dtype.is_float() ? ".0" : "", ", \"",
                      dtype.ToString(), "\")");
}

std::string Axes(Scene& scene, int rank) {
  if (rank == 0 || scene.OneIn(4)) return "None";
  std::vector<std::string> axes;
  for (int d = 0; d < rank; ++d) {
    if (scene.OneIn(2)) axes.push_back(absl::StrCat(d));
  }
  return axes.empty() ? "[-1]"
                      : absl::StrCat("[", absl::StrJoin(axes, ", "), "]");
}

std::string Permutation(Scene& scene, int rank) {
  std::vector<int> axes;
  for (int d = 0; d < rank; ++d) {
    axes.insert(axes.begin() + scene.Below(d + 1), d);
  }
  return absl::StrCat("[", absl::StrJoin(axes, ", "), "]");
}

std::string Pads(Scene& scene, int rank) {
  std::vector<std::string> pads;
  for (int i = 0; i < 2 * rank; ++i)
    pads.push_back(absl::StrCat(scene.Below(3)));
  return absl::StrCat("[", absl::StrJoin(pads, ", "), "]");
}

std::string Filled(Scene& scene, std::string text, const Values& operands) {
  const int rank = operands[0].rank();
  const DType dtype = operands[0].dtype();
  std::vector<std::pair<std::string, std::string>> by = {
      {"{axis}", absl::StrCat(scene.Below(std::max(2 * rank, 1)) - rank)},
      {"{axes}", Axes(scene, rank)},
      {"{keep}", scene.OneIn(2) ? "True" : "False"},
      {"{permutation}", Permutation(scene, rank)},
      {"{pads}", Pads(scene, rank)},
      {"{one}", Constant(1, dtype)},
      {"{two}", Constant(2, dtype)},
      {"{float}", scene.One(std::vector<std::string>{"float32", "float32",
                                                     "float64", "float16"})},
      {"{integer}",
       scene.One(std::vector<std::string>{"int32", "int64", "int8"})},
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    by.emplace_back(absl::StrCat("{", i, "}"), operands[i].name);
  }
  return absl::StrReplaceAll(text, by);
}

FuzzCall CallOf(Scene& scene, const CallRow& row, Values operands) {
  FuzzCall call;
  call.text = Filled(scene, row.text, operands);
  call.bound = row.bound(operands);
  const bool is_integer = !operands[0].dtype().is_float() &&
                          call.text.find("\"float") == call.text.npos;
  call.exact = (!row.rounds || is_integer) &&
               std::all_of(operands.begin(), operands.end(),
                           [](const FuzzValue& v) { return v.exact; });
  call.operands = std::move(operands);
  return call;
}

}  // namespace

int64_t MostOf(const Expr& extent) {
  const int64_t* value = AsInt(extent);
  if (value) return *value;
  return extent.As<VarNode>() ? kMostExtent : 4 * kMostExtent;
}

int64_t MostElements(const FuzzValue& value) {
  int64_t count = 1;
  for (const Expr& extent : value.extents()) count *= MostOf(extent);
  return count;
}

std::optional<FuzzCall> DrawCall(Scene& scene) {
  if (scene.OneIn(6)) return DrawShapeCall(scene);
  const CallRow& row = kRows[scene.Below(std::size(kRows))];
  std::optional<Values> operands = Operands(scene, row.operands);
  if (!operands) return std::nullopt;
  return CallOf(scene, row, *std::move(operands));
}

FuzzCall DrawUnary(Scene& scene, const FuzzValue& operand) {
  const DType dtype = operand.dtype();
  static const CallRow& kNumber = *new CallRow{"R.abs({0})", "n", Keeps};
  static const CallRow& kBool = *new CallRow{"R.logical_not({0})", "b", One};
  static const CallRow& kFloat = *new CallRow{"R.tanh({0})", "f", One, true};
  const CallRow& row = dtype.is_bool()                      ? kBool
                       : dtype.is_float() && scene.OneIn(2) ? kFloat
                                                            : kNumber;
  return CallOf(scene, row, {operand});
}

}  // namespace kiln
