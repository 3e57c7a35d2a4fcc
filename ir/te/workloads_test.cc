#include "kiln/ir/te/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/work/work.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::vector<Tensor> RandomArgs(const Function& f) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Tensor> args;
  for (const Param& param : f.params) {
    std::vector<int64_t> shape;
    for (const Expr& e : param.buffer->shape) shape.push_back(*AsInt(e));
    args.emplace_back(param.buffer->dtype, shape);
    for (int64_t i = 0; i < args.back().size(); ++i) {
      args.back().Set(i, uniform(random));
    }
  }
  return args;
}

std::vector<Tensor> RunWorkload(const char* spec) {
  absl::StatusOr<Module> module = MakeWorkload(spec);
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<Tensor> args = RandomArgs(module->functions[0]);
  KILN_EXPECT_OK(Interpret(module->functions[0], args));
  return args;
}

double FlopsOf(const std::string& spec) {
  absl::StatusOr<Module> module = MakeWorkload(spec);
  EXPECT_TRUE(module.ok()) << module.status();
  return CountWork(module->functions[0])->needed_flop.value;
}

TEST(WorkloadsTest, EveryShapeOfEveryWorkloadBuilds) {
  EXPECT_EQ(Workloads().size(), 13);
  for (const WorkloadInfo& info : Workloads()) {
    EXPECT_EQ(info.shapes.size(), 4) << info.name;
    for (const std::vector<int64_t>& shape : info.shapes) {
      std::string spec = info.name + ":";
      for (size_t i = 0; i < shape.size(); ++i) {
        spec += (i ? "," : "") + std::to_string(shape[i]);
      }
      EXPECT_GT(FlopsOf(spec), 0) << spec;
    }
    EXPECT_GT(FlopsOf(info.name), 0);
  }
}

TEST(WorkloadsTest, GmmIsABatchedMatmulAndCountsTwoForAMultiplyAdd) {
  EXPECT_EQ(FlopsOf("gmm:8,16,32"), 2.0 * 8 * 16 * 32);
  std::vector<Tensor> args = RunWorkload("gmm:2,3,4,5");
  for (int b = 0; b < 2; ++b) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) {
        double sum = 0;
        for (int k = 0; k < 5; ++k) {
          sum += args[0].GetReal((b * 3 + i) * 5 + k) *
                 args[1].GetReal((b * 5 + k) * 4 + j);
        }
        EXPECT_NEAR(args[2].GetReal((b * 3 + i) * 4 + j), sum, 1e-5);
      }
    }
  }
}

// A direct 2-D convolution, channels last.
double ConvAt(const std::vector<Tensor>& args, int size, int ci, int co, int k,
              int s, int p, int dilation, int groups, int y, int x, int c) {
  const int group_in = ci / groups, group_out = co / groups;
  double sum = 0;
  for (int r = 0; r < k; ++r) {
    for (int q = 0; q < k; ++q) {
      const int h = y * s + r * dilation - p, w = x * s + q * dilation - p;
      if (h < 0 || w < 0 || h >= size || w >= size) continue;
      for (int z = 0; z < group_in; ++z) {
        const int channel = c / group_out * group_in + z;
        sum += args[0].GetReal((h * size + w) * ci + channel) *
               args[1].GetReal(((r * k + q) * group_in + z) * co + c);
      }
    }
  }
  return sum;
}

void ExpectConv(const char* spec, int ci, int co, int k, int s, int p,
                int dilation, int groups) {
  std::vector<Tensor> args = RunWorkload(spec);
  const int out = args[2].shape[1];
  for (int y = 0; y < out; ++y) {
    for (int x = 0; x < out; ++x) {
      for (int c = 0; c < co; ++c) {
        EXPECT_NEAR(args[2].GetReal((y * out + x) * co + c),
                    ConvAt(args, 7, ci, co, k, s, p, dilation, groups, y, x, c),
                    1e-5)
            << spec;
      }
    }
  }
}

TEST(WorkloadsTest, ConvolutionsComputeWhatADirectOneDoes) {
  ExpectConv("c2d:7,7,4,6,3,1,1", 4, 6, 3, 1, 1, 1, 1);
  ExpectConv("c2d:7,7,4,6,3,2,0", 4, 6, 3, 2, 0, 1, 1);
  ExpectConv("grp:7,7,4,6,3,2,1,2", 4, 6, 3, 2, 1, 1, 2);
  ExpectConv("dil:7,7,4,6,3,1,2,2", 4, 6, 3, 1, 2, 2, 1);
}

// Scatters every input element over its window.
TEST(WorkloadsTest, TransposedConvolutionScattersItsInput) {
  const int size = 4, ci = 3, co = 2, k = 4;
  for (const auto& [spec, s, p] : {std::tuple("t2d:4,4,3,2,4,2,1", 2, 1),
                                   {"t2d:4,4,3,2,4,1,0", 1, 0},
                                   {"t2d:4,4,3,2,4,3,2", 3, 2}}) {
    std::vector<Tensor> args = RunWorkload(spec);
    const int out = args[2].shape[1];
    std::vector<double> expected(out * out * co);
    for (int h = 0; h < size; ++h) {
      for (int w = 0; w < size; ++w) {
        for (int r = 0; r < k; ++r) {
          for (int q = 0; q < k; ++q) {
            const int y = h * s + r - p, x = w * s + q - p;
            if (y < 0 || x < 0 || y >= out || x >= out) continue;
            for (int z = 0; z < ci * co; ++z) {
              expected[(y * out + x) * co + z % co] +=
                  args[0].GetReal((h * size + w) * ci + z / co) *
                  args[1].GetReal((r * k + q) * ci * co + z);
            }
          }
        }
      }
    }
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(args[2].GetReal(i), expected[i], 1e-5) << spec;
    }
  }
}

TEST(WorkloadsTest, SoftmaxRowsSumToOne) {
  std::vector<Tensor> args = RunWorkload("sfm:5,9");
  for (int i = 0; i < 5; ++i) {
    double sum = 0;
    for (int j = 0; j < 9; ++j) sum += args[1].GetReal(i * 9 + j);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(WorkloadsTest, NormIsTheRootOfTheSumOfSquares) {
  std::vector<Tensor> args = RunWorkload("nrm:6,7");
  double sum = 0;
  for (int i = 0; i < 42; ++i) sum += std::pow(args[0].GetReal(i), 2);
  EXPECT_NEAR(args[1].GetReal(0), std::sqrt(sum), 1e-5);
}

TEST(WorkloadsTest, TheRestRunsInsideItsBuffers) {
  for (const char* spec :
       {"c1d:12,3,4,3,2,1", "c3d:4,5,6,2,3,3,2,1", "dep:7,7,4,3,2,1",
        "cap:5,5,3,2,3,2,1", "cbr:7,7,3,4,3,2,1", "tbg:4,3,5"}) {
    RunWorkload(spec);
  }
}

TEST(WorkloadsTest, PaddingBecomesAConditionalCopy) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("c1d:8,2,4,3,2,1"));
  KILN_ASSERT_OK_AND_ASSIGN(Module expected, ParseModule("expected.py", R"(
@T.prim_func
def main(inputs: T.Buffer((1, 8, 2), "float32"), weight: T.Buffer((3, 2, 4), "float32"), conv1d_nlc: T.Buffer((1, 4, 4), "float32")):
    T.func_attr({"tir.noalias": True})
    PadInput = T.alloc_buffer((1, 10, 2))
    for i0, i1, i2 in T.grid(1, 10, 2):
        with T.block("PadInput"):
            v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
            T.reads(inputs[v_i0, v_i1 - 1, v_i2])
            T.writes(PadInput[v_i0, v_i1, v_i2])
            PadInput[v_i0, v_i1, v_i2] = T.if_then_else(1 <= v_i1 and v_i1 < 9, inputs[v_i0, v_i1 - 1, v_i2], T.float32(0.0))
    for n, l, co, rl, rc in T.grid(1, 4, 4, 3, 2):
        with T.block("conv1d_nlc"):
            v_n, v_l, v_co, v_rl, v_rc = T.axis.remap("SSSRR", [n, l, co, rl, rc])
            T.reads(PadInput[v_n, v_l * 2 + v_rl, v_co // 4 * 2 + v_rc], weight[v_rl, v_rc, v_co])
            T.writes(conv1d_nlc[v_n, v_l, v_co])
            with T.init():
                conv1d_nlc[v_n, v_l, v_co] = T.float32(0.0)
            conv1d_nlc[v_n, v_l, v_co] = conv1d_nlc[v_n, v_l, v_co] + PadInput[v_n, v_l * 2 + v_rl, v_co // 4 * 2 + v_rc] * weight[v_rl, v_rc, v_co]
)"));
  EXPECT_EQ(CanonicalForm(module.functions[0], {.block_names = true}),
            CanonicalForm(expected.functions[0], {.block_names = true}));
}

TEST(WorkloadsTest, BadSpecificationsSayWhatIsWrong) {
  const struct {
    const char* spec;
    const char* message;
  } kCases[] = {{"foo:1,2", "known are gmm, c1d"},
                {"", "unknown name"},
                {"gmm:1,2", "write gmm:N,M,K"},
                {"gmm:1,2,3,4,5", "5 dimensions"},
                {"gmm:", "1 dimensions"},
                {"sfm:layout_free", "sfm has no constant weights"},
                {"what:layout_free", "unknown name"},
                {"gmm:layout_free:2,2,2", "no whole number"},
                {"gmm:2,2,2:normwise:layout_free", "no whole number"},
                {"gmm:0,2,3", "N = 0 must be positive"},
                {"gmm:-1,2,3", "positive"},
                {"gmm:1,2,x", "no whole number"},
                {"gmm:1,2,3x", "no whole number"},
                {"gmm:1,2,", "no whole number"},
                {"gmm:99999999999999999999,1,1", "too large"},
                {"gmm:2147483647,2147483647,2147483647", "2^40 elements"},
                {"c2d:7,7,4,6,9,1,0", "output is empty"},
                {"c2d:7,7,4,6,3,1,-1", "at least 0"},
                {"c2d:7,7,4,6,3,1,2000000000", "2^40 elements"},
                {"grp:7,7,4,6,3,1,1,3", "multiples of groups"},
                {"t2d:4,4,3,2,4,2,4", "less than the kernel"}};
  for (const auto& bad : kCases) {
    EXPECT_THAT(
        MakeWorkload(bad.spec).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad.message)))
        << bad.spec;
  }
}

TEST(WorkloadsTest, WeightsCanBeLayoutFree) {
  for (const WorkloadInfo& info : Workloads()) {
    const std::string spec = info.name + kLayoutFreeSuffix;
    const absl::StatusOr<Module> module = MakeWorkload(spec);
    EXPECT_EQ(module.ok(), HasWeights(info.name)) << spec;
    if (!module.ok()) continue;
    EXPECT_EQ(LayoutFreeParams(module->functions[0]), std::vector<int>{1});
    KILN_ASSERT_OK_AND_ASSIGN(const Module again,
                              ParseModule("m.py", PrintModule(*module)));
    EXPECT_TRUE(StructurallyEqual(*module, again)) << spec;
  }
  EXPECT_FALSE(StructurallyEqual(*MakeWorkload("gmm:2,3,4"),
                                 *MakeWorkload("gmm:2,3,4:layout_free")));
}

TEST(WorkloadsTest, ErrorsCanBeNormwise) {
  for (const char* spec : {"gmm:2,3,4", "gmm:2,3,4:layout_free", "gmm"}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module module, MakeWorkload(std::string(spec) + kNormwiseSuffix));
    EXPECT_TRUE(AllowsNormwise(module.functions[0])) << spec;
    KILN_ASSERT_OK_AND_ASSIGN(const Module plain, MakeWorkload(spec));
    EXPECT_FALSE(AllowsNormwise(plain.functions[0])) << spec;
    KILN_ASSERT_OK_AND_ASSIGN(const Module again,
                              ParseModule("m.py", PrintModule(module)));
    EXPECT_TRUE(StructurallyEqual(module, again)) << spec;
    EXPECT_FALSE(StructurallyEqual(module, plain)) << spec;
  }
}

TEST(WorkloadsTest, AProgramCanBeStrict) {
  for (const char* spec : {"gmm:2,3,4", "gmm:2,3,4:layout_free", "sfm"}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                              MakeWorkload(std::string(spec) + kStrictSuffix));
    EXPECT_TRUE(IsStrict(module.functions[0])) << spec;
    KILN_ASSERT_OK_AND_ASSIGN(const Module again,
                              ParseModule("m.py", PrintModule(module)));
    EXPECT_TRUE(StructurallyEqual(module, again)) << spec;
    EXPECT_FALSE(StructurallyEqual(module, *MakeWorkload(spec))) << spec;
  }
  for (const char* both : {"gmm:strict:normwise", "gmm:normwise:strict"}) {
    EXPECT_FALSE(MakeWorkload(both).ok()) << both;
  }
}

}  // namespace
}  // namespace kiln
