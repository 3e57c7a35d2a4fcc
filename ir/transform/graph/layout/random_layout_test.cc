// Random chains of ops behind convolutions compute the same before and after
// the pass, whatever layouts are asked for:
//
//   v1 = R.nn.conv2d(x, w1, padding=1)
//   v2 = R.concat((v1, v1), axis=2)
//   v3 = R.nn.softmax(v2, axis=1)    ...    return (v1, v2, v3)
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kiln/base/random.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/layout/convert_layout.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

struct Value {
  std::string name;
  std::vector<int64_t> shape;
};

class Chain {
 public:
  explicit Chain(uint64_t seed) : random_(seed) {}

  std::string Text() {
    Param({2, 8, 5, 4});
    values_.push_back({"p0", {2, 8, 5, 4}});
    Convolve();
    for (int i = 0; i < 7; ++i) Step();
    std::vector<std::string> names;
    for (const Value& value : values_) names.push_back(value.name);
    return absl::StrCat("@R.function\ndef main(", absl::StrJoin(params_, ", "),
                        "):\n    with R.dataflow():\n",
                        absl::StrJoin(lines_, ""), "        out = (",
                        absl::StrJoin(names, ", "),
                        ")\n        R.output(out)\n    return out\n");
  }

 private:
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(n)));
  }

  std::string Param(const std::vector<int64_t>& shape) {
    const std::string name = absl::StrCat("p", params_.size());
    params_.push_back(absl::StrCat(
        name, ": R.Tensor((", absl::StrJoin(shape, ", "), ",), \"float32\")"));
    return name;
  }

  std::string Bind(const std::string& value) {
    const std::string name = absl::StrCat("v", lines_.size());
    lines_.push_back(absl::StrCat("        ", name, " = R.", value, "\n"));
    return name;
  }

  void Add(const std::string& value, std::vector<int64_t> shape) {
    values_.push_back({Bind(value), std::move(shape)});
  }

  // Of tensors of four dimensions, the later ones more often.
  Value Some() {
    const int64_t n = static_cast<int64_t>(values_.size());
    return values_[std::max(Below(n), Below(n))];
  }

  void Convolve() {
    const Value x = Some();
    const int64_t channels = 2 + 2 * Below(4);
    const std::string w = Param({channels, x.shape[1], 3, 3});
    const std::string y =
        Bind(absl::StrCat("nn.conv2d(", x.name, ", ", w, ", padding=1)"));
    Add(absl::StrCat("sigmoid(", y, ")"),
        {x.shape[0], channels, x.shape[2], x.shape[3]});
  }

  void Join(const Value& x, int64_t axis) {
    std::vector<int64_t> shape = x.shape;
    shape[axis] *= 2;
    Add(absl::StrCat("concat((", x.name, ", ", x.name, "), axis=", axis, ")"),
        shape);
  }

  void Cut(const Value& x, int64_t axis) {
    if (x.shape[axis] % 2 != 0) return;
    std::vector<int64_t> shape = x.shape;
    shape[axis] /= 2;
    const std::string parts =
        Bind(absl::StrCat("split(", x.name, ", 2, axis=", axis, ")"));
    const std::string name = absl::StrCat("v", lines_.size());
    lines_.push_back(absl::StrCat("        ", name, " = ", parts, "[1]\n"));
    values_.push_back({name, shape});
  }

  void Scale(const Value& x, int64_t axis) {
    std::vector<int64_t> bias = x.shape;
    for (int64_t i = 0; i <= axis; ++i) bias[i] = 1;
    bias.erase(bias.begin(), bias.begin() + Below(2));
    Add(absl::StrCat("multiply(", Param(bias), ", ", x.name, ")"), x.shape);
  }

  void Reduce(const Value& x, int64_t axis) {
    std::vector<int64_t> shape = x.shape;
    shape[axis] = 1;
    const std::string mean = Bind(
        absl::StrCat("mean(", x.name, ", axis=[", axis, "], keepdims=True)"));
    Add(absl::StrCat("subtract(", x.name, ", ", mean, ")"), x.shape);
    const std::string sum = Bind(
        absl::StrCat("sum(", x.name, ", axis=[", axis, "], keepdims=False)"));
    Add(absl::StrCat("expand_dims(", sum, ", axis=[", axis, "])"), shape);
  }

  void Norm(const Value& x, int64_t axis) {
    const std::string g = Param({x.shape[axis]});
    const std::string norm = Bind(absl::StrCat(
        "nn.layer_norm(", x.name, ", ", g, ", ", g, ", axes=[", axis, "])"));
    Add(absl::StrCat("tanh(", norm, ")"), x.shape);
  }

  void Along(const std::string& op, const Value& x, int64_t axis) {
    Add(absl::StrCat(op, "(", x.name, ", axis=", axis, ")"), x.shape);
  }

  void Move(const Value& x, int64_t axis) {
    std::vector<int64_t> axes = {0, 1, 2, 3};
    std::swap(axes[axis], axes[Below(4)]);
    std::vector<int64_t> shape;
    for (const int64_t a : axes) shape.push_back(x.shape[a]);
    Add(absl::StrCat("permute_dims(", x.name, ", axes=[",
                     absl::StrJoin(axes, ", "), "])"),
        shape);
  }

  void Pad(const Value& x, int64_t axis) {
    std::vector<int64_t> widths(8), shape = x.shape;
    widths[2 * axis] = 1;
    widths[2 * axis + 1] = 2;
    shape[axis] += 3;
    Add(absl::StrCat("nn.pad(", x.name, ", pad_width=[",
                     absl::StrJoin(widths, ", "), "])"),
        shape);
  }

  void Slice(const Value& x, int64_t axis) {
    std::vector<int64_t> shape = x.shape;
    shape[axis] = (shape[axis] + 1) / 2;
    Add(absl::StrCat("strided_slice(", x.name, ", axes=[", axis,
                     "], begin=[0], end=[", x.shape[axis], "], strides=[2])"),
        shape);
  }

  void Pool(const Value& x) {
    Add(absl::StrCat("nn.avg_pool2d(", x.name,
                     ", pool_size=[3, 3], padding=[1, 1, 1, 1])"),
        x.shape);
  }

  void Step() {
    const Value x = Some();
    int64_t size = 1;
    for (const int64_t extent : x.shape) size *= extent;
    const int64_t axis = Below(4);
    switch (Below(15)) {
      case 0:
        return size < 1000 ? Convolve() : Pool(x);
      case 1:
        return size < 1000 ? Join(x, axis) : Cut(x, axis);
      case 2:
        return Cut(x, axis);
      case 3:
        return Scale(x, axis);
      case 4:
        return Reduce(x, axis);
      case 5:
        return Norm(x, axis);
      case 6:
        return Along("nn.softmax", x, axis);
      case 7:
        return Along("cumsum", x, axis);
      case 8:
        return Along("flip", x, axis);
      case 9:
        return Along("sort", x, axis);
      case 10:
        return Move(x, axis);
      case 11:
        return size < 1000 ? Pad(x, axis) : Slice(x, axis);
      case 12:
        return Slice(x, axis);
      case 13:
        return Pool(x);
      default:
        return Add(absl::StrCat("nn.relu(", x.name, ")"), x.shape);
    }
  }

  Random random_;
  std::vector<std::string> params_, lines_;
  std::vector<Value> values_;
};

TEST(RandomLayoutTest, ResultsStay) {
  const DesiredLayouts kinds[] = {
      {{"relax.nn.conv2d", {"NHWC", "OHWI"}}},
      {{"relax.nn.conv2d", {"NCHW2c", "OIHW2o"}}},
      {{"relax.nn.conv2d", {"N2cHWC2n", "O2oHWI"}}},
      {{"relax.nn.conv2d", {"CHWN", "HWIO", "NHWC"}}},
  };
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::string text = Chain(seed).Text();
    SCOPED_TRACE(text);
    const auto before = InferModule(ReadModule(text));
    ASSERT_TRUE(before.ok()) << before.status();
    const auto after = ConvertLayout(*before, kinds[seed % 4]);
    ASSERT_TRUE(after.ok()) << after.status();
    const absl::Status same = SameResults(*before, *after, seed);
    ASSERT_TRUE(same.ok()) << same << PrintModule(*after);
  }
}

}  // namespace
}  // namespace kiln
