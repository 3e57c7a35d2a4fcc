// Random graph functions compute the same before and after passes: each pass by
// itself, and several in random order.
//
//   def f0(a, t, b):                          a (n, 4), t ((n, 4), (4,)), b
//   (4,)
//       ...
//   def main(c, x, z, y, u, w):
//       with R.dataflow():
//           v0 = R.matmul(x, u)
//           v1 = cls.f0(v0, (x, y), y)
//           R.output(v0, v1)
//       if c: ...                             and tuples, other names, casts,
//       @R.function                           constants, dead code,
//       def l2(p): ...                        local functions that capture
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kiln/base/random.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

// Kinds of values, by their struct info: see TypeOf.
enum class Kind { kRows, kRow, kSquare, kPair, kNested, kShape };

struct Value {
  std::string name;
  Kind kind;
};

std::string TypeOf(Kind kind) {
  switch (kind) {
    case Kind::kRows:
      return "R.Tensor((n, 4), \"float32\")";
    case Kind::kRow:
      return "R.Tensor((4,), \"float32\")";
    case Kind::kSquare:
      return "R.Tensor((4, 4), \"float32\")";
    case Kind::kPair:
      return "R.Tuple(R.Tensor((n, 4), \"float32\"), R.Tensor((4,), "
             "\"float32\"))";
    case Kind::kNested:
      return "R.Tuple(" + TypeOf(Kind::kPair) + ", " + TypeOf(Kind::kRow) + ")";
    case Kind::kShape:
      return "R.Shape([n, 4])";
  }
  return "";
}

// The same where `n` is not known yet.
std::string FirstTypeOf(Kind kind) {
  std::string type = TypeOf(kind);
  const size_t at = type.find("(n,");
  if (at != std::string::npos) type.replace(at, 3, "(\"n\",");
  return type;
}

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {}

  std::string Text() {
    std::string text = "@I.ir_module\nclass Module:\n";
    for (int i = 0; i < 3; ++i) {
      constexpr Kind kResults[] = {Kind::kPair, Kind::kRows, Kind::kNested};
      const Kind result = kResults[Below(3)];
      const std::string name = absl::StrCat("f", i);
      text += Function(
          name, true,
          {{"a", Kind::kRows}, {"t", Kind::kPair}, {"b", Kind::kRow}}, result);
      functions_.push_back({name, result});
    }
    return text + Function("main", false,
                           {{"x", Kind::kRows},
                            {"z", Kind::kRows},
                            {"y", Kind::kRow},
                            {"u", Kind::kSquare},
                            {"w", Kind::kSquare}},
                           Kind::kPair);
  }

 private:
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(n)));
  }

  std::string Function(const std::string& name, bool is_private,
                       const std::vector<Value>& params, Kind result) {
    std::vector<std::string> texts = {"c: R.Tensor((), \"bool\")"};
    for (const Value& param : params) {
      const bool is_first = texts.size() == 1;
      texts.push_back(absl::StrCat(
          param.name, ": ",
          is_first ? FirstTypeOf(param.kind) : TypeOf(param.kind)));
    }
    values_ = params;
    text_.clear();
    indent_ = 2;
    Line("n = T.int64()");
    Line("m = T.int64()");
    Line("cls = Module");
    for (int i = 0; i < 4; ++i) Part();
    Line(absl::StrCat("return ", Some(result)));
    return absl::StrCat("    @R.function", is_private ? "(private=True)" : "",
                        "\n    def ", name, "(", absl::StrJoin(texts, ", "),
                        ") -> ", TypeOf(result), ":\n", text_, "\n");
  }

  void Line(const std::string& line) {
    absl::StrAppend(&text_, std::string(4 * indent_, ' '), line, "\n");
  }

  // A value of the kind: the later the likelier, or one that is made of others.
  std::string Some(Kind kind) {
    std::vector<std::string> names;
    for (const Value& value : values_) {
      if (value.kind == kind) names.push_back(value.name);
    }
    if (names.empty() || Below(8) == 0) return Made(kind);
    const auto count = static_cast<int64_t>(names.size());
    return names[std::max(Below(count), Below(count))];
  }

  std::string Made(Kind kind) {
    switch (kind) {
      case Kind::kRows:
        return absl::StrCat("R.negative(", Some(Kind::kRows), ")");
      case Kind::kRow:
        return "R.const([1.0, 2.0, 3.0, 4.0], \"float32\")";
      case Kind::kSquare:
        return "R.ones(R.shape([4, 4]), \"float32\")";
      case Kind::kPair:
        return absl::StrCat("(", Some(Kind::kRows), ", ", Some(Kind::kRow),
                            ")");
      case Kind::kNested:
        return absl::StrCat("(", Some(Kind::kPair), ", ", Some(Kind::kRow),
                            ")");
      case Kind::kShape:
        return absl::StrCat("R.shape_of(", Some(Kind::kRows), ")");
    }
    return "";
  }

  void Bind(const std::string& value, Kind kind) {
    const std::string name = absl::StrCat("v", ++count_);
    Line(absl::StrCat(name, " = ", value));
    values_.push_back({name, kind});
  }

  void Part() {
    switch (Below(5)) {
      case 0:
        return Branch();
      case 1:
        return Local();
      case 2:
        for (int i = 0; i < 3; ++i) Step();
        return;
      default:
        return Block();
    }
  }

  // A dataflow block gives out some of what it binds.
  void Block() {
    const size_t before = values_.size();
    Line("with R.dataflow():");
    ++indent_;
    const int64_t steps = 2 + Below(5);
    for (int64_t i = 0; i < steps; ++i) Step();
    std::vector<std::string> out;
    std::vector<Value> kept(values_.begin(), values_.begin() + before);
    for (size_t i = before; i < values_.size(); ++i) {
      if (i + 1 < values_.size() && Below(2) == 0) continue;
      out.push_back(values_[i].name);
      kept.push_back(values_[i]);
    }
    Line(absl::StrCat("R.output(", absl::StrJoin(out, ", "), ")"));
    --indent_;
    values_ = kept;
  }

  void Branch() {
    const std::vector<Value> before = values_;
    constexpr Kind kKinds[] = {Kind::kRows, Kind::kPair, Kind::kNested};
    const Kind kind = kKinds[Below(3)];
    const std::string name = absl::StrCat("v", ++count_);
    for (const char* head : {"if c:", "else:"}) {
      Line(head);
      ++indent_;
      if (Below(2) == 0) Block();
      Step();
      Line(absl::StrCat(name, " = ", Some(kind)));
      --indent_;
      values_ = before;
    }
    values_.push_back({name, kind});
  }

  void Local() {
    const std::vector<Value> before = values_;
    const std::string name = absl::StrCat("l", ++count_);
    Line("@R.function");
    Line(absl::StrCat("def ", name, "(p: ", TypeOf(Kind::kRows), ") -> ",
                      TypeOf(Kind::kRows), ":"));
    ++indent_;
    values_.push_back({"p", Kind::kRows});
    if (Below(2) == 0) Block();
    Step();
    Line(absl::StrCat("return ", Some(Kind::kRows)));
    --indent_;
    values_ = before;
    Bind(absl::StrCat(name, "(", Some(Kind::kRows), ")"), Kind::kRows);
  }

  void Call() {
    if (functions_.empty()) return;
    const Value f = functions_[Below(static_cast<int64_t>(functions_.size()))];
    if (Below(3) == 0) return CallOnMore(f);
    const std::string a = Some(Kind::kRows), t = Some(Kind::kPair);
    Bind(absl::StrCat("cls.", f.name, "(c, ", a, ", ", t, ", ",
                      Some(Kind::kRow), ")"),
         f.kind);
  }

  // With another count of rows than the caller has.
  void CallOnMore(const Value& f) {
    const std::string a = Some(Kind::kRows), b = Some(Kind::kRows);
    const std::string more =
        absl::StrCat("R.concat((", a, ", ", b, "), axis=0)");
    std::string result =
        absl::StrCat("cls.", f.name, "(c, ", more, ", (", more, ", ",
                     Some(Kind::kRow), "), ", Some(Kind::kRow), ")");
    if (f.kind == Kind::kNested) result += "[0]";
    if (f.kind != Kind::kRows) result += "[0]";
    Bind(absl::StrCat("R.mean(", result, ", axis=[0])"), Kind::kRow);
  }

  void Step() {
    const auto rows = [&] { return Some(Kind::kRows); };
    const auto row = [&] { return Some(Kind::kRow); };
    switch (Below(28)) {
      case 0:
        return Bind(absl::StrCat("R.add(", rows(), ", ", row(), ")"),
                    Kind::kRows);
      case 1:
      case 2:
        return Bind(
            absl::StrCat("R.matmul(", rows(), ", ", Some(Kind::kSquare), ")"),
            Kind::kRows);
      case 3:
        return Bind(absl::StrCat("R.tanh(", rows(), ")"), Kind::kRows);
      case 4:
        return Bind(absl::StrCat("R.sigmoid(", row(), ")"), Kind::kRow);
      case 5:
        return Bind(absl::StrCat("R.mean(", rows(), ", axis=[0])"), Kind::kRow);
      case 6:
        return Bind(Some(Kind::kPair), Kind::kPair);
      case 7:
        return Bind(absl::StrCat(Some(Kind::kPair), "[0]"), Kind::kRows);
      case 8:
        return Bind(absl::StrCat(Some(Kind::kPair), "[1]"), Kind::kRow);
      case 9:
        return Bind(rows(), Kind::kRows);
      case 10:
        return Bind(absl::StrCat("R.reshape(R.reshape(", rows(),
                                 ", R.shape([n * 4])), R.shape([n, 4]))"),
                    Kind::kRows);
      case 11:
        return Bind(absl::StrCat("R.split(R.concat((", rows(), ", ", rows(),
                                 "), axis=1), 2, axis=1)[", Below(2), "]"),
                    Kind::kRows);
      case 12:
        return Bind(absl::StrCat("R.permute_dims(", Some(Kind::kSquare), ")"),
                    Kind::kSquare);
      case 13:
        return Bind(absl::StrCat("R.add(", Some(Kind::kSquare), ", ",
                                 Some(Kind::kSquare), ")"),
                    Kind::kSquare);
      case 14:
        return Bind(absl::StrCat("R.match_cast(", rows(), ", ",
                                 TypeOf(Kind::kRows), ")"),
                    Kind::kRows);
      case 15:
        return Bind(absl::StrCat("R.nn.softmax(", rows(), ", axis=1)"),
                    Kind::kRows);
      case 16:
        return Bind(absl::StrCat("R.multiply(", row(), ", ", row(), ")"),
                    Kind::kRow);
      case 17:
        return Bind(absl::StrCat("(", rows(), ", ", row(), ")"), Kind::kPair);
      case 18:
        return Bind(absl::StrCat("R.subtract(", rows(), ", ", rows(), ")"),
                    Kind::kRows);
      case 19:
        return Bind(Some(Kind::kNested), Kind::kNested);
      case 20:
        return Bind(absl::StrCat(Some(Kind::kNested), "[0]"), Kind::kPair);
      case 21:
        return Bind(absl::StrCat(Some(Kind::kNested), "[0][0]"), Kind::kRows);
      case 22:
        return Bind(Some(Kind::kShape), Kind::kShape);
      case 23:
        return Bind(absl::StrCat("R.broadcast_to(", row(), ", ",
                                 Some(Kind::kShape), ")"),
                    Kind::kRows);
      case 24:
        return Bind(absl::StrCat("R.mean(R.match_cast(", rows(),
                                 ", R.Tensor((m, 4), \"float32\")), axis=[0])"),
                    Kind::kRow);
      case 25:
        return Bind(absl::StrCat("R.nn.layer_norm(", rows(), ", ", row(), ", ",
                                 row(), ", axes=[-1])"),
                    Kind::kRows);
      case 26:
        return Bind(absl::StrCat("R.nn.batch_norm(", rows(), ", ", row(), ", ",
                                 row(), ", ", row(), ", R.abs(", row(),
                                 "), axis=1, training=False)[0]"),
                    Kind::kRows);
      default:
        return Call();
    }
  }

  Random random_;
  std::vector<Value> values_, functions_;
  std::string text_;
  int indent_ = 0;
  int count_ = 0;
};

// Those that keep what a module computes, before ops are tensor functions.
constexpr const char* kHighLevel[] = {"normalize",
                                      "canonicalize_bindings",
                                      "convert_to_dataflow",
                                      "dce",
                                      "cse",
                                      "lambda_lift",
                                      "fold_constants",
                                      "inline_functions",
                                      "remove_unused_parameters",
                                      "remove_unused_outputs",
                                      "expand_tuple_arguments",
                                      "topological_sort",
                                      "topological_sort_breadth_first",
                                      "combine_parallel_matmul",
                                      "expand_matmul_of_sum",
                                      "reorder_take_after_matmul",
                                      "reorder_permute_dims_after_concat",
                                      "fold_batchnorm_into_conv2d",
                                      "decompose_for_inference",
                                      "decompose_for_training",
                                      "convert_layout",
                                      "merge_composite_functions",
                                      "legalize"};

constexpr int kSeeds = 40;

TEST(RandomGraphTest, EachPassKeepsWhatIsComputed) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string text = RandomGraph(seed).Text();
    const absl::StatusOr<Module> before = InferModule(ReadModule(text));
    ASSERT_TRUE(before.ok()) << before.status() << text;
    for (const char* pass : kHighLevel) {
      EXPECT_EQ(MeaningAfter({pass}, text), "") << pass << " " << seed << text;
      if (HasFailure()) return;
    }
  }
}

TEST(RandomGraphTest, SoDoSeveralInAnyOrder) {
  constexpr auto kCount = static_cast<uint64_t>(std::size(kHighLevel));
  for (uint64_t seed = 0; seed < 3 * kSeeds; ++seed) {
    const std::string text = RandomGraph(1000 + seed).Text();
    Random random(seed);
    std::vector<std::string> passes;
    for (int i = 0; i < 5; ++i) {
      passes.emplace_back(kHighLevel[random.Below(kCount)]);
    }
    EXPECT_EQ(MeaningAfter(passes, text), "")
        << absl::StrJoin(passes, ",") << " " << seed << text;
    if (HasFailure()) return;
  }
}

TEST(RandomGraphTest, SoDoesTheWayToKernels) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string text = RandomGraph(2000 + seed).Text();
    EXPECT_EQ(MeaningAfter({"lambda_lift", "legalize", "annotate_patterns",
                            "fuse_ops", "fuse_tir", "rewrite_dataflow_reshape"},
                           text),
              "")
        << seed << text;
    if (HasFailure()) return;
  }
}

TEST(RandomGraphTest, SoDoesMemoryThatIsPlanned) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string text = RandomGraph(3000 + seed).Text();
    EXPECT_EQ(
        MeaningAfter(
            {"lambda_lift", "legalize", "lower_call_tir", "plan_memory"}, text),
        "")
        << seed << text;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace kiln
