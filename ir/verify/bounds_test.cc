#include "kiln/ir/verify/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A function of A and B of float32 with 64 elements, X of 64 int32, M of
// 64 x 64 and the scalar n, with this body.
Function Body(const std::string& body) {
  absl::StatusOr<Function> f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), X: T.Buffer((64,), "int32"), M: T.Buffer((64, 64), "float32"), n: T.int64):
)" + body);
  EXPECT_TRUE(f.ok()) << f.status();
  return *std::move(f);
}

struct Case {
  const char* body;
  const char* message;  // null: nothing is refused
};

constexpr Case kCases[] = {
    {"    for i in range(64): B[i] = A[i]\n", nullptr},
    {"    for i in range(128): B[i] = A[0]\n", "the store to B[i]"},
    {"    for i in range(64): B[i] = A[i + 1]\n", "outside of it where i = 63"},
    {"    for i in range(64): B[i] = A[i - 1]\n", "outside of it where i = 0"},
    {"    for i in range(64): B[i] = A[64]\n", "index 0 is 64"},
    {"    for i in range(64): B[i] = A[i + 64]\n", "runs from 64 to 127"},
    // Hints access nothing but what their indices read.
    {"    for i in range(64):\n"
     "        T.prefetch(T.address_of(A[i + 64]), 0, 3, 1)\n"
     "        B[i] = A[i]\n",
     nullptr},
    {"    for i in range(64):\n"
     "        T.prefetch(T.address_of(A[X[i + 1]]), 0, 3, 1)\n"
     "        B[i] = A[i]\n",
     "X[i + 1]"},
    // Guarded.
    {"    for i in range(64): B[i] = T.if_then_else(i > 0, A[i - 1], 0.0)\n",
     nullptr},
    {"    for i in range(64): B[i] = T.if_then_else(i >= 0, A[i - 1], 0.0)\n",
     "A[i - 1]"},
    {"    for i in range(64): B[i] = T.if_then_else(i < 1, 0.0, A[i - 1])\n",
     nullptr},
    {"    for i in range(64): B[i] = T.Select(i > 0, A[i - 1], T.float32(0))\n",
     "A[i - 1]"},
    {"    for i in range(128):\n        if i < 64:\n            B[i] = A[i]\n",
     nullptr},
    {"    for i in range(128):\n        if i < 64:\n            B[i] = A[i]\n"
     "        else:\n            B[i] = A[i - 64]\n",
     "the store to B[i]"},
    {"    for i in range(64):\n        if i > 0 and A[i - 1] > 0.0:\n"
     "            B[i] = A[i]\n",
     nullptr},
    {"    for i in range(64):\n        if A[i - 1] > 0.0:\n"
     "            B[i] = A[i]\n",
     "A[i - 1]"},
    {"    for i in range(16):\n        for j in range(5):\n"
     "            if i * 5 + j < 64:\n                B[i * 5 + j] = A[0]\n",
     nullptr},
    {"    for i in range(16):\n        for j in range(5):\n"
     "            if i * 5 + j <= 64:\n                B[i * 5 + j] = A[0]\n",
     "i = 12, j = 4"},
    // Too many instances to try each.
    {"    for i in range(4096):\n        for j in range(4096):\n"
     "            if i * 4096 + j < 65:\n"
     "                B[i * 4096 + j] = A[0]\n",
     "i = 0, j = 64"},
    // Data and arguments decide.
    {"    for i in range(64): B[i] = A[X[i]]\n", nullptr},
    {"    for i in range(64): B[i] = A[X[i + 1]]\n", "X[i + 1]"},
    {"    for i in range(64):\n        if X[i] > 0:\n"
     "            B[i + 64] = A[0]\n",
     nullptr},
    {"    for i in range(n): B[i] = A[i]\n", nullptr},
    {"    for i in range(T.min(n, 64)): B[i] = A[i]\n", nullptr},
    // Vectors.
    {"    for i in range(4): B[i * 16:i * 16 + 16] = A[i * 16:i * 16 + 16]\n",
     nullptr},
    {"    for i in range(4): B[i * 16:i * 16 + 16] = "
     "A[i * 16 + 1:i * 16 + 17]\n",
     "the load of"},
    // Columns count by themselves.
    {"    for i in range(63): B[i] = M[i, i + 2]\n", "index 1"},
    {"    for i in range(-4): B[i] = A[i]\n", "negative extent -4"},
    {"    for i in range(64):\n        for j in range(i - 4): B[j] = A[j]\n",
     nullptr},
    // Blocks.
    {"    for i in range(64):\n        with T.block(\"B\"):\n"
     "            vi = T.axis.spatial(32, i)\n            B[vi] = A[vi]\n",
     "iterator vi is bound to i, which leaves its domain [0, 32) where i = 32"},
    {"    for i in range(64):\n        with T.block(\"B\"):\n"
     "            vi = T.axis.spatial(32, i)\n            T.where(i < 32)\n"
     "            B[vi] = A[vi]\n",
     nullptr},
    {"    for i in range(64):\n        with T.block(\"B\"):\n"
     "            vi = T.axis.spatial(64, i)\n            B[vi] = A[vi + 1]\n",
     "/ for i / block \"B\": the load of A[vi + 1]"},
    {"    for i in range(8):\n        with T.block(\"B\"):\n"
     "            vi = T.axis.spatial(8, i)\n"
     "            C = T.match_buffer(B[vi * 8:vi * 8 + 9], (9,), \"float32\")\n"
     "            C[0] = A[vi]\n",
     "`C` matches B[vi * 8:vi * 8 + 9]"},
    // Views over storage.
    {"    V = T.decl_buffer((128,), \"float32\", data=A.data)\n"
     "    for i in range(64): B[i] = V[i]\n",
     "`V` views the storage of `A` and reaches 256 bytes beyond its end"},
    {"    V = T.decl_buffer((32, 2), \"float32\", data=A.data, strides=(1, "
     "32))\n"
     "    for i in range(32): B[i] = V[i, 1]\n",
     nullptr},
    {"    V = T.decl_buffer((32, 2), \"float32\", data=A.data, strides=(2, "
     "2))\n"
     "    for i in range(32): B[i] = V[i, 1]\n",
     "beyond its end"},
    {"    V = T.decl_buffer((32,), \"float32\", data=A.data, elem_offset=33)\n"
     "    for i in range(32): B[i] = V[i]\n",
     "reaches 4 bytes beyond"},
    {"    V = T.decl_buffer((128,), \"float16\", data=A.data)\n"
     "    for i in range(64): B[i] = A[i]\n",
     nullptr},
    // What a dead branch does is no fault.
    {"    for i in range(0): B[i + 64] = A[0]\n", nullptr},
};

TEST(BoundsTest, InstancesOutOfBoundsAreRefused) {
  for (const Case& c : kCases) {
    const absl::Status status = CheckBounds(Body(c.body));
    if (c.message) {
      EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr(c.message)))
          << c.body;
    } else {
      EXPECT_TRUE(status.ok()) << status << "\n" << c.body;
    }
  }
}

TEST(BoundsTest, UnprovenAccessesAreThoseThatDataOrArgumentsDecide) {
  const struct {
    const char* body;
    std::vector<std::string> unproven;
  } kUnproven[] = {
      {"    for i in range(64): B[i] = A[i]\n", {}},
      {"    for i in range(64): B[i] = A[X[i]]\n", {"A"}},
      {"    for i in range(64): B[X[i]] = A[X[i]]\n", {"A", "B"}},
      {"    for i in range(64): M[X[i], X[i]] = A[i]\n", {"M", "M"}},
      {"    for i in range(64): B[i] = T.if_then_else(X[i] >= 0 and X[i] < 64, "
       "A[X[i]], 0.0)\n",
       {}},
      {"    for i in range(64):\n        if X[i] >= 0 and X[i] < 64:\n"
       "            B[X[i]] = A[i]\n",
       {}},
      // The guard holds no longer.
      {"    for i in range(64):\n        if X[i] >= 0 and X[i] < 64:\n"
       "            X[i] = 99\n            B[X[i]] = A[i]\n",
       {"B"}},
      {"    for i in range(n): B[i] = A[i]\n", {"A", "B"}},
      {"    for i in range(T.min(n, 64)): B[i] = A[i]\n", {}},
      {"    for i in range(64): B[i] = A[T.min(T.max(X[i], 0), 63)]\n", {}},
      {"    for i in range(64): B[i] = A[X[i] % 64]\n", {}},
      {"    V = T.decl_buffer((n,), \"float32\", data=A.data)\n"
       "    for i in range(n): V[i] = T.float32(1)\n",
       {"V"}},
      {"    for i in range(8):\n        with T.block(\"B\"):\n"
       "            vi = T.axis.spatial(64, X[i])\n"
       "            B[vi] = A[i]\n",
       {"B"}},
  };
  for (const auto& c : kUnproven) {
    std::vector<std::string> names;
    for (const UnprovenAccess& access : UnprovenAccesses(Body(c.body))) {
      names.push_back(access.buffer->name);
    }
    EXPECT_EQ(names, c.unproven) << c.body;
  }
}

TEST(BoundsTest, AnUnprovenAccessTellsItsPlace) {
  const auto found =
      UnprovenAccesses(Body("    for i in range(64): M[i, X[i]] = A[i]\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].dimension, 1);
  EXPECT_TRUE(found[0].is_store);
  EXPECT_EQ(found[0].place, "main / for i");
  EXPECT_EQ(found[0].indices.size(), 2u);
}

TEST(BoundsTest, WorkloadsAreProved) {
  for (const char* spec :
       {"gmm:64,64,64", "c2d:14,14,16,32,3,1,1", "dil:14,14,16,32,3,1,1,2",
        "t2d:4,4,16,8,4,2,1", "sfm:16,16"}) {
    const absl::StatusOr<Module> module = MakeWorkload(spec);
    ASSERT_TRUE(module.ok()) << module.status();
    KILN_EXPECT_OK(CheckBounds(module->functions[0]));
    EXPECT_TRUE(UnprovenAccesses(module->functions[0]).empty()) << spec;
  }
}

}  // namespace
}  // namespace kiln
