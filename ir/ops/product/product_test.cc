// Products beside loops over all their indices: einsum by small tables whose
// results are read off, attention by its definition, one query at a time,
//
//   exp(score of key j) summed over the keys that are seen
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/run_lowered.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;

const DType kF32 = DType::Float(32);

Values Result(const std::string& params, const std::string& call,
              std::vector<Tensor> args, const OutputSpec& output) {
  const auto got = RunLowered(params, call, std::move(args), {output});
  EXPECT_TRUE(got.ok()) << got.status().message();
  return got.ok() ? ValuesOf((*got)[0]) : Values();
}

constexpr char kMatrices[] =
    "x: R.Tensor((\"a\", 3), \"float32\"), y: R.Tensor((3, 2), \"float32\")";

TEST(EinsumTest, SumsRunOverLabelsThatTheResultLacks) {
  const Tensor x = TensorOf(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = TensorOf(kF32, {3, 2}, {1, 0, 0, 1, 2, 2});
  for (const char* subscripts : {"ij,jk->ik", "ij, jk"}) {
    EXPECT_THAT(
        Result(kMatrices,
               absl::StrCat("einsum((x, y), subscripts=\"", subscripts, "\")"),
               {x, y}, {kF32, {2, 2}}),
        ElementsAre(7, 8, 16, 17));
  }
  EXPECT_THAT(Result(kMatrices, "einsum((x, y), subscripts=\"ij,jk->\")",
                     {x, y}, {kF32, {}}),
              ElementsAre(48));
  EXPECT_THAT(Result("x: R.Tensor((2, 2), \"float32\")",
                     "einsum((x,), subscripts=\"ii->i\")",
                     {TensorOf(kF32, {2, 2}, {1, 2, 3, 4})}, {kF32, {2}}),
              ElementsAre(1, 4));
}

TEST(EinsumTest, DotsAreDimensionsThatMeet) {
  EXPECT_THAT(Result("x: R.Tensor((2, 1, 2), \"float32\"), "
                     "y: R.Tensor((3, 2), \"float32\")",
                     "einsum((x, y), subscripts=\"...k,...k->...\")",
                     {TensorOf(kF32, {2, 1, 2}, {1, 2, 3, 4}),
                      TensorOf(kF32, {3, 2}, {1, 0, 0, 1, 1, 1})},
                     {kF32, {2, 3}}),
              ElementsAre(1, 2, 3, 3, 4, 7));
}

TEST(EinsumTest, OuterProducts) {
  EXPECT_THAT(
      Result("x: R.Tensor((2,), \"int32\"), y: R.Tensor((3,), \"int32\")",
             "outer(x, y)",
             {TensorOf(DType::Int(32), {2}, {2, 3}),
              TensorOf(DType::Int(32), {3}, {1, 10, 100})},
             {DType::Int(32), {2, 3}}),
      ElementsAre(2, 20, 200, 3, 30, 300));
}

TEST(EinsumTest, WhatMakesNoSenseIsRefused) {
  const struct {
    const char* call;
    const char* reason;
  } kCases[] = {
      {"einsum((x, y), subscripts=\"ij->ij\")", "there are 2"},
      {"einsum((x, y), subscripts=\"ijk,jk->i\")", "as many labels as not"},
      {"einsum((x, y), subscripts=\"ij,jk->iz\")", "stands in an operand"},
      {"einsum((x, y), subscripts=\"ij,jk->ii\")", "once in the result"},
      {"einsum((x, y), subscripts=\"ij,kj->ik\")", "another extent"},
      {"einsum((x, y), subscripts=\"i1,jk->ik\")", "labels are letters"},
      {"einsum(x, subscripts=\"ij\")", "tuple of tensors"},
      {"outer(x, y)", "1 dimensions"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(RunLowered(kMatrices, c.call, {}, {}).status().message(),
                HasSubstr(c.reason))
        << c.call;
  }
}

// --- Attention. Queries (B, S, N, H), keys (B, K, M, H), values (B, K, M, V).

struct Attention {
  int64_t queries, keys, heads, key_heads;
  std::string mask;  // "", "TopLeft", "BottomRight"
  bool has_bias = false;
  int64_t window = 0;  // 0: none
};
constexpr int64_t kBatch = 2, kSize = 3, kValue = 2;

Values Expected(const Attention& a, const Tensor& q, const Tensor& k,
                const Tensor& v, const Tensor& bias) {
  Values result;
  const auto score = [&](int64_t b, int64_t i, int64_t n, int64_t j) {
    double sum = 0;
    const int64_t head = n / (a.heads / a.key_heads);
    for (int64_t h = 0; h < kSize; ++h) {
      sum += q.GetReal(((b * a.queries + i) * a.heads + n) * kSize + h) *
             k.GetReal(((b * a.keys + j) * a.key_heads + head) * kSize + h);
    }
    return sum / std::sqrt(kSize) +
           (a.has_bias ? bias.GetReal((b * a.queries + i) * a.keys + j) : 0);
  };
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t i = 0; i < a.queries; ++i)
      for (int64_t n = 0; n < a.heads; ++n)
        for (int64_t c = 0; c < kValue; ++c) {
          double sum = 0, total = 0;
          for (int64_t j = 0; j < a.keys; ++j) {
            const int64_t last = a.mask == "TopLeft" ? i
                                 : a.mask == "BottomRight"
                                     ? i + a.keys - a.queries
                                     : a.keys;
            if (!a.mask.empty() && j > last) continue;
            const int64_t place = a.mask.empty() ? i : last;
            if (a.window > 0 && j <= place - a.window) continue;
            const int64_t head = n / (a.heads / a.key_heads);
            const double weight = std::exp(score(b, i, n, j));
            total += weight;
            sum +=
                weight *
                v.GetReal(((b * a.keys + j) * a.key_heads + head) * kValue + c);
          }
          result.push_back(sum / total);
        }
  return result;
}

void ExpectAnswered(const Attention& a) {
  SCOPED_TRACE(a.mask);
  const std::vector<std::vector<int64_t>> shapes = {
      {kBatch, a.queries, a.heads, kSize},
      {kBatch, a.keys, a.key_heads, kSize},
      {kBatch, a.keys, a.key_heads, kValue},
      {kBatch, 1, a.queries, a.keys}};
  std::vector<Tensor> args;
  std::string params;
  for (int i = 0; i < (a.has_bias ? 4 : 3); ++i) {
    args.push_back(Wavy(kF32, shapes[i], 3 + i));
    absl::StrAppend(&params, i ? ", " : "", "t", i, ": R.Tensor((",
                    shapes[i][0], ", ", shapes[i][1], ", ", shapes[i][2], ", ",
                    shapes[i][3], "), \"float32\")");
  }
  const std::string mask =
      a.mask.empty() ? "None" : absl::StrCat("\"", a.mask, "\"");
  const std::string call =
      a.has_bias ? "nn.attention_bias(t0, t1, t2, t3, causal_mask="
                 : "nn.attention(t0, t1, t2, causal_mask=";
  const std::string window =
      a.window > 0 ? absl::StrCat(", window_size=", a.window) : "";
  const Values got = Result(params, call + mask + window + ")", args,
                            {kF32, {kBatch, a.queries, a.heads, kValue}});
  const Values expected =
      Expected(a, args[0], args[1], args[2], args[a.has_bias ? 3 : 0]);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-5) << i;
  }
}

TEST(AttentionTest, QueriesAreAnsweredByTheKeysThatTheySee) {
  ExpectAnswered({3, 4, 2, 2, ""});
  ExpectAnswered({3, 4, 2, 2, "TopLeft"});
  ExpectAnswered({3, 4, 2, 2, "BottomRight"});
}

TEST(AttentionTest, WindowsHideWhatIsTooFarAhead) {
  ExpectAnswered({4, 6, 2, 2, "TopLeft", false, 2});
  ExpectAnswered({4, 6, 2, 2, "BottomRight", false, 3});
  ExpectAnswered({4, 6, 2, 1, "", true, 1});
}

// The answers to each sequence are those that it would get alone.
TEST(AttentionTest, SequencesSeeThemselvesOnly) {
  const DType i32 = DType::Int(32);
  const Tensor q = Wavy(kF32, {1, 6, 1, 3}, 3), k = Wavy(kF32, {1, 7, 1, 3}, 4);
  const Tensor v = Wavy(kF32, {1, 7, 1, 2}, 5);
  const auto rows = [](const Tensor& x, int64_t begin, int64_t end) {
    const int64_t size = x.shape[3];
    Values values;
    for (int64_t i = begin * size; i < end * size; ++i) {
      values.push_back(x.GetReal(i));
    }
    return TensorOf(kF32, {1, end - begin, 1, size}, values);
  };
  for (const char* how : {"", ", causal_mask=\"TopLeft\"",
                          ", causal_mask=\"BottomRight\", window_size=2"}) {
    SCOPED_TRACE(how);
    const auto answers = [&](int64_t q0, int64_t q1, int64_t k0, int64_t k1) {
      const std::string params = absl::StrCat("q: R.Tensor((1, ", q1 - q0,
                                              ", 1, 3), \"float32\"), "
                                              "k: R.Tensor((1, ",
                                              k1 - k0,
                                              ", 1, 3), \"float32\"), "
                                              "v: R.Tensor((1, ",
                                              k1 - k0, ", 1, 2), \"float32\")");
      return Result(params, absl::StrCat("nn.attention(q, k, v", how, ")"),
                    {rows(q, q0, q1), rows(k, k0, k1), rows(v, k0, k1)},
                    {kF32, {1, q1 - q0, 1, 2}});
    };
    const Values got = Result(
        "q: R.Tensor((1, 6, 1, 3), \"float32\"), "
        "k: R.Tensor((1, 7, 1, 3), \"float32\"), "
        "v: R.Tensor((1, 7, 1, 2), \"float32\"), "
        "sq: R.Tensor((3,), \"int32\"), sk: R.Tensor((3,), \"int32\"), "
        "mq: R.Tensor((), \"int32\"), mk: R.Tensor((), \"int32\")",
        absl::StrCat("nn.attention_var_len(q, k, v, sq, sk, mq, mk", how, ")"),
        {q, k, v, TensorOf(i32, {3}, {0, 2, 5}), TensorOf(i32, {3}, {0, 3, 7}),
         TensorOf(i32, {}, {3}), TensorOf(i32, {}, {4})},
        {kF32, {1, 6, 1, 2}});
    Values expected = answers(0, 2, 0, 3);
    for (const double value : answers(2, 5, 3, 7)) expected.push_back(value);
    expected.resize(12, 0);  // a query behind the last sequence
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
    }
  }
}

TEST(AttentionTest, BiasAndSharedHeadsOfKeys) {
  ExpectAnswered({2, 3, 4, 2, "", true});
  ExpectAnswered({2, 3, 4, 1, "TopLeft", true});
}

TEST(AttentionTest, WhatDoesNotFitIsRefused) {
  const std::string q = "q: R.Tensor((1, 2, 4, 8), \"float32\"), ";
  const auto refusal = [&](const std::string& params, const char* call) {
    return std::string(RunLowered(q + params, call, {}, {}).status().message());
  };
  EXPECT_THAT(refusal("k: R.Tensor((1, 2, 3, 8), \"float32\")",
                      "nn.attention(q, k, k)"),
              HasSubstr("do not divide"));
  EXPECT_THAT(refusal("k: R.Tensor((1, 2, 4, 7), \"float32\")",
                      "nn.attention(q, k, k)"),
              HasSubstr("queries have 8"));
  EXPECT_THAT(refusal("k: R.Tensor((1, 2, 4, 8), \"float16\")",
                      "nn.attention(q, k, k)"),
              HasSubstr("not that of the queries"));
  EXPECT_THAT(refusal("k: R.Tensor((1, 2, 4, 8), \"float32\")",
                      "nn.attention(q, k, k, causal_mask=\"Left\")"),
              HasSubstr("TopLeft or BottomRight"));
  EXPECT_THAT(refusal("k: R.Tensor((1, 2, 4, 8), \"float32\")",
                      "nn.attention(q, k, k, window_size=0)"),
              HasSubstr("at least one key"));
}

}  // namespace
}  // namespace kiln
