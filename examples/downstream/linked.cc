// A program that is linked to a model: BUILD compiles two_layers.py ahead, and
// its header has a function for each of the model's. Nothing of the compiler is
// in this program.
//
//   bazel run //:linked
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "kiln/vm/capi/module.h"
#include "two_layers.h"

namespace {

constexpr int64_t kRows = 3, kIn = 8, kHidden = 16, kOut = 4;

// Whole numbers, whose products and sums floats hold exactly.
std::vector<float> Numbers(int64_t count) {
  std::vector<float> numbers(count);
  for (int64_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<float>(i * 7 % 11 - 5);
  }
  return numbers;
}

// a @ b, b with `columns` columns.
std::vector<float> Product(const std::vector<float>& a,
                           const std::vector<float>& b, int64_t columns) {
  const int64_t inner = static_cast<int64_t>(b.size()) / columns;
  const int64_t rows = static_cast<int64_t>(a.size()) / inner;
  std::vector<float> c(rows * columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t k = 0; k < inner; ++k) {
        c[i * columns + j] += a[i * inner + k] * b[k * columns + j];
      }
    }
  }
  return c;
}

int Fail(const std::string& message) {
  std::fprintf(stderr, "linked: %s\n", message.c_str());
  return 1;
}

}  // namespace

int main() {
  std::vector<float> x = Numbers(kRows * kIn);
  std::vector<float> w0 = Numbers(kIn * kHidden), w1 = Numbers(kHidden * kOut);
  two_layers::Module model;
  const kiln::rt::Result y =
      model.forward({x.data(), {kRows, kIn}}, {w0.data(), {kIn, kHidden}},
                    {w1.data(), {kHidden, kOut}});
  if (!y.ok()) return Fail(y.error());
  const auto got = y.tensor<float, 2>();
  std::vector<float> hidden = Product(x, w0, kHidden);
  for (float& value : hidden) value = std::max(0.0f, value);
  const std::vector<float> expected = Product(hidden, w1, kOut);
  if (got.size() != kRows * kOut ||
      !std::equal(expected.begin(), expected.end(), got.data)) {
    return Fail("the model computes something else");
  }
  // A tensor function writes into its argument.
  std::vector<float> sums(kRows);
  const kiln::rt::Result done =
      model.row_sums({x.data(), {kRows, kIn}}, {sums.data(), {kRows}});
  if (!done.ok()) return Fail(done.error());
  if (sums != Product(x, std::vector<float>(kIn, 1), 1)) {
    return Fail("row_sums computes something else");
  }
  // What does not fit is a message.
  const kiln::rt::Result wrong =
      model.row_sums({x.data(), {kRows, kIn}}, {sums.data(), {1}});
  if (wrong.ok()) return Fail("three rows have one sum");
  std::printf("the right results; and an error: %s\n", wrong.error().c_str());
  return 0;
}
