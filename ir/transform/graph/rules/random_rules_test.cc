// Random programs compute the same before and after rules, all of which are
// proved first. Programs mix dataflow blocks with plain bindings, other names,
// tuples, casts and branches:
//
//   with R.dataflow():
//       v0 = R.add(p0, p1)
//       v1 = R.negative(v0)
//       R.output(v0, v1)
//   v2 = v1
//   v3 = R.subtract(v2, v1)     ...    return (v0, v3)
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/rules/apply_rules.h"
#include "kiln/ir/transform/graph/rules/check_rule.h"
#include "kiln/ir/transform/graph/rules/rule.h"

namespace kiln {
namespace {

struct RuleText {
  const char* params;
  const char* pattern;
  const char* replacement;
};

constexpr char kAny[] = "x: R.Tensor";
constexpr char kTwo[] =
    "x: R.Tensor(dtype=\"float64\"), y: R.Tensor(dtype=\"float64\")";
constexpr char kMatrix[] = "x: R.Tensor((\"n\", \"m\"), \"float64\")";
constexpr char kMatrices[] =
    "x: R.Tensor((\"n\", \"m\"), \"float64\"), "
    "y: R.Tensor((\"n\", \"m\"), \"float64\"), "
    "z: R.Tensor((\"n\", \"m\"), \"float64\")";
constexpr char kProducts[] =
    "x: R.Tensor((\"n\", \"n\"), \"float64\"), "
    "y: R.Tensor((\"n\", \"m\"), \"float64\"), "
    "z: R.Tensor((\"n\", \"m\"), \"float64\")";
constexpr char kSquares[] =
    "x: R.Tensor((\"n\", \"n\"), \"float64\"), "
    "y: R.Tensor((\"n\", \"n\"), \"float64\")";
constexpr char kPair[] =
    "x: R.Tensor((\"n\", \"m\"), \"float64\"), "
    "y: R.Tensor((\"n\", \"m\"), \"float64\")";

// All lead to fewer calls of something, so they end.
constexpr RuleText kRules[] = {
    {kAny, "    return R.negative(R.negative(x))", "    return x"},
    {kTwo, "    return R.subtract(x, R.negative(y))", "    return R.add(x, y)"},
    {kTwo, "    return R.add(R.negative(x), R.negative(y))",
     "    return R.negative(R.add(x, y))"},
    {kMatrix, "    return R.add(x, x)",
     "    return R.multiply(x, R.const(2.0, \"float64\"))"},
    {kAny, "    return R.nn.relu(R.nn.relu(x))", "    return R.nn.relu(x)"},
    {kMatrix, "    return R.abs(R.negative(x))", "    return R.abs(x)"},
    {kMatrix, "    return R.permute_dims(R.permute_dims(x))", "    return x"},
    {kMatrices, "    return R.add(R.multiply(x, y), R.multiply(x, z))",
     "    return R.multiply(x, R.add(y, z))"},
    {kProducts, "    return R.add(R.matmul(x, y), R.matmul(x, z))",
     "    return R.matmul(x, R.add(y, z))"},
    {kSquares, "    return R.matmul(R.permute_dims(x), R.permute_dims(y))",
     "    return R.permute_dims(R.matmul(y, x))"},
    // Several results: two calls become one.
    {kPair, "    return (R.sin(x), R.sin(y))",
     "    t = R.split(R.sin(R.concat((x, y), axis=0)), 2, axis=0)\n"
     "    return (t[0], t[1])"},
};

absl::StatusOr<Rule> Read(const RuleText& text) {
  const auto function = [&](const char* name, const char* body) {
    return absl::StrCat("@R.function\ndef ", name, "(", text.params, "):\n",
                        body, "\n");
  };
  return ReadRule(text.pattern, function("pattern", text.pattern) +
                                    function("replacement", text.replacement));
}

class Program {
 public:
  explicit Program(uint64_t seed) : random_(seed) {}

  std::string Text() {
    for (int i = 0; i < 3; ++i) seen_.push_back(absl::StrCat("p", i));
    const std::vector<std::string> params = seen_;
    for (int i = 0; i < 4; ++i) Block("    ");
    std::vector<std::string> results;
    for (int i = 0; i < 3; ++i) results.push_back(Some());
    // Every other program has extents that are not known.
    const char* extents = random_.Below(2) == 0 ? "4, 4" : "\"n\", \"n\"";
    std::string head;
    for (const std::string& param : params) {
      absl::StrAppend(&head, param, ": R.Tensor((", extents,
                      "), \"float64\"), ");
    }
    return absl::StrCat("@R.function\ndef main(", head,
                        "c: R.Tensor((), \"bool\")):\n", dims_, text_,
                        "    return (", absl::StrJoin(results, ", "), ")\n");
  }

 private:
  uint64_t Below(uint64_t n) { return random_.Below(n); }

  // Later values more often.
  std::string Some() {
    return seen_[std::max(Below(seen_.size()), Below(seen_.size()))];
  }

  std::string Bind(const std::string& indent, const std::string& value) {
    const std::string name = absl::StrCat("v", count_++);
    absl::StrAppend(&text_, indent, name, " = ", value, "\n");
    return name;
  }

  void Step(const std::string& indent) {
    static constexpr const char* kOne[] = {"negative", "nn.relu",      "abs",
                                           "sin",      "permute_dims", "tanh"};
    static constexpr const char* kTwoArgs[] = {"add", "subtract", "multiply",
                                               "matmul"};
    if (Below(12) == 0) return Cast(indent);
    switch (Below(8)) {
      case 0:
        seen_.push_back(Bind(indent, Some()));  // another name
        return;
      case 1: {
        const std::string tuple =
            Bind(indent, absl::StrCat("(", Some(), ", ", Some(), ")"));
        seen_.push_back(Bind(indent, absl::StrCat(tuple, "[", Below(2), "]")));
        return;
      }
      case 2:
      case 3:
      case 4:
        seen_.push_back(
            Bind(indent, absl::StrCat("R.", kOne[Below(6)], "(", Some(), ")")));
        return;
      default: {
        const std::string left = Some();
        const std::string right = Below(4) == 0 ? left : Some();
        seen_.push_back(Bind(indent, absl::StrCat("R.", kTwoArgs[Below(4)], "(",
                                                  left, ", ", right, ")")));
      }
    }
  }

  // To dimensions that come in here.
  void Cast(const std::string& indent) {
    const std::string dim = absl::StrCat("d", count_);
    absl::StrAppend(&dims_, "    ", dim, " = T.int64()\n");
    seen_.push_back(
        Bind(indent, absl::StrCat("R.match_cast(", Some(), ", R.Tensor((", dim,
                                  ", ", dim, "), \"float64\"))")));
  }

  void Block(const std::string& indent) {
    switch (Below(4)) {
      case 0:
        for (int i = 0; i < 4; ++i) Step(indent);
        return;
      case 1:
        return Branch(indent);
      default:
        return Dataflow(indent);
    }
  }

  void Dataflow(const std::string& indent) {
    const std::vector<std::string> before = seen_;
    absl::StrAppend(&text_, indent, "with R.dataflow():\n");
    for (int i = 0; i < 7; ++i) Step(indent + "    ");
    // Any of the new values may be seen behind it, the last one is.
    std::vector<std::string> outputs;
    for (size_t i = before.size(); i < seen_.size(); ++i) {
      if (i + 1 == seen_.size() || Below(3) == 0) outputs.push_back(seen_[i]);
    }
    absl::StrAppend(&text_, indent, "    R.output(",
                    absl::StrJoin(outputs, ", "), ")\n");
    seen_ = before;
    seen_.insert(seen_.end(), outputs.begin(), outputs.end());
  }

  void Branch(const std::string& indent) {
    const std::vector<std::string> before = seen_;
    const std::string result = absl::StrCat("r", count_++);
    for (const char* head : {"if c:\n", "else:\n"}) {
      absl::StrAppend(&text_, indent, head);
      for (int i = 0; i < 3; ++i) Step(indent + "    ");
      absl::StrAppend(&text_, indent, "    ", result, " = R.negative(", Some(),
                      ")\n");
      seen_ = before;
    }
    seen_.push_back(result);
  }

  Random random_;
  std::string text_, dims_;
  std::vector<std::string> seen_;
  int count_ = 0;
};

absl::StatusOr<std::vector<graph::TensorValue>> Run(const Module& module,
                                                    uint64_t seed) {
  Random random(seed, 1);
  std::vector<graph::Value> args;
  for (int i = 0; i < 3; ++i) {
    Tensor tensor(DType::Float(64), {4, 4});
    for (int64_t k = 0; k < 16; ++k) tensor.Set(k, 2 * random.Unit() - 1);
    args.push_back(graph::TensorOf(std::move(tensor)));
  }
  Tensor condition(DType::Bool(), {});
  condition.SetInt(0, random.Between(0, 1));
  args.push_back(graph::TensorOf(std::move(condition)));
  KILN_ASSIGN_OR_RETURN(const graph::Value result,
                        graph::InterpretGraph(module, "main", args));
  std::vector<graph::TensorValue> tensors;
  const auto& tuple =
      std::get<std::shared_ptr<const graph::TupleValue>>(result);
  for (const graph::Value& field : tuple->fields) {
    tensors.push_back(std::get<graph::TensorValue>(field));
  }
  return tensors;
}

// "" where the program computes the same after the rules; counts changes.
std::string Difference(const std::string& text, uint64_t seed,
                       const std::vector<Rule>& rules, int& changed) {
  const auto judge = [&]() -> absl::Status {
    KILN_ASSIGN_OR_RETURN(const Module parsed, ParseModule("p.py", text));
    KILN_ASSIGN_OR_RETURN(const Module before, InferModule(parsed));
    KILN_ASSIGN_OR_RETURN(const Module after, ApplyRules(before, rules));
    const std::string printed = PrintModule(after);
    changed += printed != PrintModule(before);
    // What is not seen where it is used cannot be read again.
    KILN_ASSIGN_OR_RETURN(const Module again, ParseModule("a.py", printed));
    KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(again));
    KILN_ASSIGN_OR_RETURN(const auto wanted, Run(before, seed));
    KILN_ASSIGN_OR_RETURN(const auto found, Run(inferred, seed));
    for (size_t i = 0; i < wanted.size(); ++i) {
      absl::Status status = CompareTensors(*found[i], *wanted[i], {1e-9, 1e-9});
      if (status.ok()) continue;
      return absl::InternalError(
          absl::StrCat(status.message(), "\nafter:\n", printed));
    }
    return absl::OkStatus();
  };
  const absl::Status status = judge();
  return status.ok() ? ""
                     : absl::StrCat("seed ", seed, ": ", status.message(),
                                    "\nbefore:\n", text);
}

TEST(RandomRulesTest, ProgramsComputeTheSame) {
  std::vector<Rule> rules;
  for (const RuleText& text : kRules) {
    KILN_ASSERT_OK_AND_ASSIGN(Rule rule, Read(text));
    KILN_ASSERT_OK(CheckRule(rule));
    rules.push_back(std::move(rule));
  }
  int changed = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = Program(seed).Text();
    ASSERT_EQ(Difference(text, seed, rules, changed), "");
  }
  EXPECT_GT(changed, 100);
}

}  // namespace
}  // namespace kiln
