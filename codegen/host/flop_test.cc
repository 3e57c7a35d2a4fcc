// Operations of calls, beside formulas: of loops, of conditions, and of what no
// polynomial tells.
#include "kiln/codegen/host/flop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/vm/library/kernel_dim.h"

namespace kiln {
namespace {

std::optional<vm::KernelFlop> FlopOfText(const std::string& text) {
  const absl::StatusOr<Module> module =
      ParseModule("m.py", absl::StrCat("@T.prim_func\n", text));
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? FlopOf(module->functions[0]) : std::nullopt;
}

// Of a call with those scalars; -1: not known.
int64_t At(const std::optional<vm::KernelFlop>& flop,
           std::vector<int64_t> scalars) {
  if (!flop) return -1;
  return Evaluate(flop->count, absl::MakeConstSpan(scalars)).value_or(-1);
}

std::string Matmul(const std::string& n, const std::string& m) {
  return absl::StrCat(
      "def mm(a: T.handle, b: T.handle, c: T.handle):\n",
      n == "n" ? "    n = T.int64()\n" : "",
      m == "m" ? "    m = T.int64()\n" : "", "    A = T.match_buffer(a, (", n,
      ", 7), 'float32')\n", "    B = T.match_buffer(b, (7, ", m,
      "), 'float32')\n", "    C = T.match_buffer(c, (", n, ", ", m,
      "), 'float32')\n", "    for i, j, k in T.grid(", n, ", ", m,
      ", 7):\n"
      "        with T.block('C'):\n"
      "            vi, vj, vk = T.axis.remap('SSR', "
      "[i, j, k])\n"
      "            with T.init():\n"
      "                C[vi, vj] = T.float32(0)\n"
      "            C[vi, vj] = C[vi, vj] + A[vi, vk] * "
      "B[vk, vj]\n");
}

TEST(FlopTest, NumbersAndExtents) {
  const auto fixed = FlopOfText(Matmul("5", "3"));
  EXPECT_EQ(At(fixed, {}), 2 * 5 * 3 * 7);
  EXPECT_FALSE(fixed->is_bound);
  const auto rows = FlopOfText(Matmul("n", "3"));
  const auto both = FlopOfText(Matmul("n", "m"));
  for (int64_t n : {0, 1, 2, 17, 1000003}) {
    EXPECT_EQ(At(rows, {n}), 2 * n * 3 * 7) << n;
    for (int64_t m : {0, 1, 31, 100000}) {
      EXPECT_EQ(At(both, {n, m}), 2 * n * m * 7) << n << " " << m;
    }
  }
}

TEST(FlopTest, WhatOverflowsIsNotKnown) {
  EXPECT_EQ(
      At(FlopOfText(Matmul("n", "m")), {int64_t{1} << 40, int64_t{1} << 40}),
      -1);
}

TEST(FlopTest, TrianglesAndBordersAndScalars) {
  const auto triangle = FlopOfText(R"py(
def f(a: T.handle, alpha: T.float32, k: T.int32):
    n = T.int64()
    A = T.match_buffer(a, (n, n), "float32")
    for i, j in T.grid(n, n):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(j <= i)
            A[vi, vj] = A[vi, vj] * alpha
)py");
  // The signature is alpha, k, n.
  for (int64_t n : {0, 1, 2, 9, 100}) {
    EXPECT_EQ(At(triangle, {0, 5, n}), n * (n + 1) / 2) << n;
  }
  // Two of n * 3 products are with what sticks out.
  const auto padded = FlopOfText(R"py(
def f(a: T.handle, w: T.Buffer((3,), "float32"), b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    P = T.alloc_buffer((n + 2,), "float32")
    for i in range(n + 2):
        with T.block("P"):
            vi = T.axis.spatial(n + 2, i)
            P[vi] = T.if_then_else(1 <= vi and vi < n + 1, A[vi - 1], T.float32(0))
    for i, r in T.grid(n, 3):
        with T.block("B"):
            vi, vr = T.axis.remap("SR", [i, r])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + P[vi + vr] * w[vr]
)py");
  EXPECT_EQ(At(padded, {50}), 2 * (3 * 50 - 2));
}

TEST(FlopTest, ACopyNeedsNone) {
  EXPECT_EQ(At(FlopOfText(R"py(
def f(A: T.Buffer((4, 6), "float32"), B: T.Buffer((6, 4), "float32")):
    for i, j in T.grid(6, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]
)py"),
               {}),
            0);
}

TEST(FlopTest, NoPolynomialIsNotKnown) {
  const auto text = [](const std::string& extent) {
    return absl::StrCat(
        "def f(a: T.handle):\n    n = T.int64()\n"
        "    A = T.match_buffer(a, (n,), 'float32')\n    for i in range(",
        extent,
        "):\n        with T.block('A'):\n"
        "            vi = T.axis.spatial(n, i)\n"
        "            A[vi] = A[vi] * T.float32(2)\n");
  };
  EXPECT_EQ(At(FlopOfText(text("n")), {3}), 3);
  EXPECT_EQ(At(FlopOfText(text("n // 2")), {3}), -1);
  EXPECT_EQ(At(FlopOfText(text("T.min(n, 30)")), {3}), -1);
}

}  // namespace
}  // namespace kiln
