// Small variants of each network: through Kiln, kernels as written and by
// default schedules, against the same over oneDNN, and smaller ones against the
// interpreter of graph functions; as text and as bytes and back; with extents
// left open, at several sizes.
//
//   ResNet of one block each, 8 channels wide, images of 64 x 64
#include "kiln/examples/models/networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/examples/models/comparison.h"
#include "kiln/examples/models/graph_module.h"
#include "kiln/examples/models/onednn_program.h"
#include "kiln/examples/models/weights.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/support/graph_values.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln::models {
namespace {

constexpr uint64_t kSeed = 5;
constexpr double kTolerance = 2e-5;
constexpr double kNormwiseTolerance = 2e-4;
// Of numbers with so many bits, through the layers of a U-Net.
constexpr double kTolerance8Bits = 0.15, kTolerance11Bits = 0.02;

ResNetSizes SmallResNet(int64_t batch = 1) {
  return {.batch = batch,
          .image = 64,
          .width = 8,
          .blocks = {2, 1, 1, 1},
          .classes = 10};
}

MobileNetSizes SmallMobileNet(int64_t batch = 1) {
  return {.batch = batch,
          .image = 32,
          .stem = 8,
          .last = 40,
          .stages = {{1, 8, 1, 1}, {6, 12, 2, 2}, {3, 16, 2, 1}},
          .classes = 7};
}

EncoderSizes SmallEncoder(int64_t tokens = 9) {
  return {.batch = 2,
          .tokens = tokens,
          .layers = 2,
          .hidden = 24,
          .heads = 3,
          .inner = 40,
          .vocabulary = 50,
          .positions = 33};
}

DecoderSizes SmallDecoder(int64_t length = 5) {
  return {.length = length,
          .layers = 2,
          .hidden = 24,
          .heads = 3,
          .inner = 40,
          .vocabulary = 50,
          .positions = 33};
}

UNetSizes SmallUNet(bool resizes = false) {
  return {.image = 16, .width = 6, .depth = 2, .resizes = resizes};
}

struct Named {
  const char* name;
  Network (*make)();
};

const Named kSmall[] = {
    {"resnet", [] { return ResNet(SmallResNet()); }},
    {"resnet of an odd image",
     [] {
       ResNetSizes sizes = SmallResNet(2);
       sizes.image = 37;
       return ResNet(sizes);
     }},
    {"mobilenet", [] { return MobileNet(SmallMobileNet()); }},
    {"encoder", [] { return Encoder(SmallEncoder()); }},
    {"decoder", [] { return Decoder(SmallDecoder()); }},
    {"unet", [] { return UNet(SmallUNet()); }},
    {"unet that resizes", [] { return UNet(SmallUNet(true)); }},
};

// As few elements as the structure allows, for the interpreter.
const Named kTiny[] = {
    {"resnet",
     [] {
       return ResNet({.image = 32, .width = 2, .blocks = {1, 1}, .classes = 3});
     }},
    {"mobilenet",
     [] {
       return MobileNet({.image = 8,
                         .stem = 4,
                         .last = 6,
                         .stages = {{1, 4, 1, 1}, {2, 4, 1, 1}, {2, 6, 1, 2}},
                         .classes = 3});
     }},
    {"encoder",
     [] {
       return Encoder({.tokens = 3,
                       .layers = 1,
                       .hidden = 8,
                       .heads = 2,
                       .inner = 12,
                       .vocabulary = 11,
                       .positions = 4});
     }},
    {"decoder",
     [] {
       return Decoder({.batch = 2,
                       .length = 3,
                       .layers = 1,
                       .hidden = 8,
                       .heads = 2,
                       .inner = 12,
                       .vocabulary = 11,
                       .positions = 4});
     }},
    {"unet", [] { return UNet({.image = 8, .width = 2, .depth = 2}); }},
    {"unet that resizes",
     [] {
       return UNet({.image = 8, .width = 2, .depth = 1, .resizes = true});
     }},
};

class NetworksTest : public testing::Test {
 protected:
  // The constants of this machine, which schedules go by, are not measured.
  static void SetUpTestSuite() {
    const std::string path = testing::TempDir() + "/machine.json";
    KILN_EXPECT_OK(SaveMachine(DescribeMachine(), path));
    setenv("KILN_MACHINE", path.c_str(), 1);
  }
};

// A compiled model with what it runs on.
class Compiled {
 public:
  static absl::StatusOr<std::unique_ptr<Compiled>> Create(
      const Module& module, bool schedules,
      const PrepareOptions& options = {}) {
    auto self = std::make_unique<Compiled>();
    KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
    KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module, options));
    KILN_ASSIGN_OR_RETURN(
        vm::Executable executable,
        CompileModel(prepared, target,
                     schedules ? DefaultSchedules(target) : KeepSchedules()));
    KILN_ASSIGN_OR_RETURN(
        self->machine_,
        vm::Machine::Create(std::move(executable), {}, &self->host_));
    return self;
  }

  absl::StatusOr<vm::Value> Run(const std::vector<NDArray>& inputs) {
    const std::vector<vm::Value> args(inputs.begin(), inputs.end());
    return machine_->Call("main", args);
  }

 private:
  ThreadPool pool_;
  KernelHost host_{&pool_};
  std::unique_ptr<vm::Machine> machine_;
};

absl::StatusOr<std::vector<NDArray>> ByOneDnn(
    const Network& net, const std::vector<NDArray>& inputs) {
  Weights weights(kSeed);
  KILN_ASSIGN_OR_RETURN(const auto program,
                        OneDnnProgram::Create(net, weights, 1));
  for (size_t i = 0; i < inputs.size(); ++i) {
    KILN_RETURN_IF_ERROR(program->inputs()[i].CopyFrom(inputs[i]));
  }
  // Twice: buffers are used again.
  KILN_RETURN_IF_ERROR(program->Run());
  KILN_RETURN_IF_ERROR(program->Run());
  return program->outputs();
}

void ExpectNear(const absl::StatusOr<vm::Value>& got,
                const std::vector<NDArray>& expected,
                double tolerance = kTolerance) {
  KILN_ASSERT_OK(got);
  KILN_ASSERT_OK_AND_ASSIGN(const Errors errors, ErrorsOf(*got, expected));
  EXPECT_LE(errors.largest, tolerance);
}

void ExpectLikeOneDnn(const Network& net, const ModuleOptions& options,
                      bool schedules) {
  Weights weights(kSeed);
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            ToModule(net, weights, options));
  KILN_ASSERT_OK_AND_ASSIGN(const auto inputs, DrawInputs(net, kSeed));
  KILN_ASSERT_OK_AND_ASSIGN(const auto expected, ByOneDnn(net, inputs));
  KILN_ASSERT_OK_AND_ASSIGN(const auto compiled,
                            Compiled::Create(module, schedules));
  ExpectNear(compiled->Run(inputs), expected);
}

TEST_F(NetworksTest, KernelsAsWrittenAgreeWithOneDnn) {
  for (const Named& small : kSmall) {
    SCOPED_TRACE(small.name);
    ExpectLikeOneDnn(small.make(), {}, /*schedules=*/false);
  }
}

TEST_F(NetworksTest, DefaultSchedulesAgreeWithOneDnn) {
  for (const Named& small : kSmall) {
    SCOPED_TRACE(small.name);
    ExpectLikeOneDnn(small.make(), {}, /*schedules=*/true);
  }
}

TEST_F(NetworksTest, ConvolutionsByTilesAgreeWithOneDnn) {
  for (const Network& net :
       {UNet({.image = 32, .width = 32, .depth = 2}),
        ResNet({.image = 80, .width = 32, .blocks = {2, 1, 1, 1}})}) {
    Weights weights(kSeed);
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, ToModule(net, weights, {}));
    const PrepareOptions options{.allows_normwise = true};
    KILN_ASSERT_OK_AND_ASSIGN(const Module prepared,
                              PrepareModel(module, options));
    EXPECT_TRUE(prepared.Find("winograd_output"));
    KILN_ASSERT_OK_AND_ASSIGN(const auto inputs, DrawInputs(net, kSeed));
    KILN_ASSERT_OK_AND_ASSIGN(const auto expected, ByOneDnn(net, inputs));
    KILN_ASSERT_OK_AND_ASSIGN(
        const auto compiled,
        Compiled::Create(module, /*schedules=*/true, options));
    ExpectNear(compiled->Run(inputs), expected, kNormwiseTolerance);
  }
}

TEST_F(NetworksTest, ProductsOfNarrowFloatsAgreeWithOneDnn) {
  for (const auto& [precision, tolerance] :
       {std::pair(DType::BFloat16(), kTolerance8Bits),
        std::pair(DType::Float(16), kTolerance11Bits)}) {
    for (const Named& small : kSmall) {
      SCOPED_TRACE(precision.ToString() + " " + small.name);
      const Network net = small.make();
      Weights weights(kSeed);
      KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                                ToModule(net, weights, {}));
      KILN_ASSERT_OK_AND_ASSIGN(const auto inputs, DrawInputs(net, kSeed));
      KILN_ASSERT_OK_AND_ASSIGN(const auto expected, ByOneDnn(net, inputs));
      KILN_ASSERT_OK_AND_ASSIGN(const auto compiled,
                                Compiled::Create(module, /*schedules=*/true,
                                                 {.precision = precision}));
      ExpectNear(compiled->Run(inputs), expected, tolerance);
    }
  }
}

TEST_F(NetworksTest, AttentionAsAnOpAgreesWithOneDnn) {
  const ModuleOptions options{.attention = AttentionForm::kOp};
  for (const bool schedules : {false, true}) {
    ExpectLikeOneDnn(Encoder(SmallEncoder()), options, schedules);
    ExpectLikeOneDnn(Decoder(SmallDecoder()), options, schedules);
  }
}

// --- Against the interpreter.

absl::StatusOr<vm::Value> Interpreted(const Module& module,
                                      const std::vector<NDArray>& inputs) {
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  std::vector<graph::Value> args;
  for (const NDArray& input : inputs) {
    KILN_ASSIGN_OR_RETURN(graph::Value arg, ToGraphValue(input));
    args.push_back(std::move(arg));
  }
  KILN_ASSIGN_OR_RETURN(const graph::Value result,
                        graph::InterpretGraph(inferred, "main", args));
  return ToVmValue(result);
}

TEST_F(NetworksTest, TheInterpreterAgreesWithOneDnn) {
  for (const Named& tiny : kTiny) {
    SCOPED_TRACE(tiny.name);
    const Network net = tiny.make();
    Weights weights(kSeed);
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, ToModule(net, weights));
    KILN_ASSERT_OK_AND_ASSIGN(const auto inputs, DrawInputs(net, kSeed));
    KILN_ASSERT_OK_AND_ASSIGN(const auto expected, ByOneDnn(net, inputs));
    ExpectNear(Interpreted(module, inputs), expected);
    for (const bool schedules : {false, true}) {
      KILN_ASSERT_OK_AND_ASSIGN(const auto compiled,
                                Compiled::Create(module, schedules));
      ExpectNear(compiled->Run(inputs), expected);
    }
  }
}

// --- There and back.

void ExpectSame(const Module& a, const Module& b) {
  const auto difference = FirstDifference(a, b);
  EXPECT_FALSE(difference) << *difference;
}

TEST_F(NetworksTest, BytesAndTextGiveTheSameModule) {
  for (const Named& small : kSmall) {
    SCOPED_TRACE(small.name);
    const Network net = small.make();
    Weights weights(kSeed);
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, ToModule(net, weights));
    KILN_ASSERT_OK_AND_ASSIGN(const Module read,
                              ParseModuleBytes(SerializeModule(module)));
    ExpectSame(read, module);
    // Text leaves out the bytes of large constants.
    PrintOptions all;
    all.max_constant_elements = int64_t{1} << 40;
    KILN_ASSERT_OK_AND_ASSIGN(const Module parsed,
                              ParseModule("m.py", PrintModule(module, all)));
    KILN_ASSERT_OK_AND_ASSIGN(const Module inferred, InferModule(parsed));
    ExpectSame(inferred, module);
  }
}

TEST_F(NetworksTest, WeightsAsParametersGiveTheSame) {
  for (const Named& small : kSmall) {
    SCOPED_TRACE(small.name);
    const Network net = small.make();
    Weights weights(kSeed);
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module module,
        ToModule(net, weights, {.weights_are_params = true}));
    KILN_ASSERT_OK_AND_ASSIGN(const Module parsed,
                              ParseModule("m.py", PrintModule(module)));
    KILN_ASSERT_OK_AND_ASSIGN(auto inputs, DrawInputs(net, kSeed));
    KILN_ASSERT_OK_AND_ASSIGN(const auto expected, ByOneDnn(net, inputs));
    for (const Weight& weight : net.weights()) {
      KILN_ASSERT_OK_AND_ASSIGN(inputs.emplace_back(), weights.Get(weight));
    }
    KILN_ASSERT_OK_AND_ASSIGN(const auto compiled,
                              Compiled::Create(parsed, false));
    ExpectNear(compiled->Run(inputs), expected);
  }
}

// --- Open extents.

// One executable for all sizes, against oneDNN at each.
void ExpectOpen(const std::string& open,
                const std::function<Network(int64_t)>& make,
                const std::vector<int64_t>& sizes) {
  Weights weights(kSeed);
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            ToModule(make(1), weights, {.open = {open}}));
  for (const bool schedules : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(const auto compiled,
                              Compiled::Create(module, schedules));
    for (const int64_t size : sizes) {
      SCOPED_TRACE(size);
      const Network net = make(size);
      KILN_ASSERT_OK_AND_ASSIGN(const auto inputs, DrawInputs(net, kSeed));
      KILN_ASSERT_OK_AND_ASSIGN(const auto expected, ByOneDnn(net, inputs));
      ExpectNear(compiled->Run(inputs), expected);
    }
  }
}

TEST_F(NetworksTest, ResNetForAnyBatch) {
  ExpectOpen("n", [](int64_t n) { return ResNet(SmallResNet(n)); }, {1, 3, 4});
}

TEST_F(NetworksTest, MobileNetForAnyBatch) {
  ExpectOpen("n", [](int64_t n) { return MobileNet(SmallMobileNet(n)); },
             {1, 2, 5});
}

TEST_F(NetworksTest, EncoderForAnyLength) {
  ExpectOpen("t", [](int64_t t) { return Encoder(SmallEncoder(t)); },
             {1, 2, 17, 33});
}

TEST_F(NetworksTest, MoreTokensThanPositionsAreRefused) {
  Weights weights(kSeed);
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module module,
      ToModule(Encoder(SmallEncoder()), weights, {.open = {"t"}}));
  KILN_ASSERT_OK_AND_ASSIGN(const auto compiled,
                            Compiled::Create(module, false));
  KILN_ASSERT_OK_AND_ASSIGN(const NDArray ids,
                            NDArray::Zeros({2, 34}, DType::Int(64)));
  EXPECT_THAT(compiled->Run({ids}).status().message(),
              testing::HasSubstr("34"));
}

TEST_F(NetworksTest, DecoderForAnyLengthOfTheCache) {
  ExpectOpen("l", [](int64_t l) { return Decoder(SmallDecoder(l)); },
             {1, 7, 32});
}

// --- Weights.

const Named kDeep[] = {
    {"resnet", [] { return ResNet({.image = 64, .width = 8, .classes = 10}); }},
    {"mobilenet", [] { return MobileNet({.image = 64}); }},
    {"encoder",
     [] {
       EncoderSizes sizes = SmallEncoder();
       sizes.layers = 12;
       return Encoder(sizes);
     }},
    {"decoder",
     [] {
       DecoderSizes sizes = SmallDecoder();
       sizes.layers = 12;
       return Decoder(sizes);
     }},
    {"unet", [] { return UNet({.image = 32, .width = 8}); }},
};

void ExpectModerate(const NDArray& result) {
  double squares = 0, sum = 0;
  for (const float value : result.elements<float>()) {
    squares += double{value} * value;
    sum += value;
  }
  const double count = static_cast<double>(result.num_elements());
  const double root = std::sqrt(squares / count);
  EXPECT_GT(root, 0.05);
  EXPECT_LT(root, 20);
  // And differ from each other.
  EXPECT_GT(squares / count, 1.1 * sum * sum / count / count);
}

// Whatever the depth, results neither fade nor grow.
TEST_F(NetworksTest, ResultsAreOfModerateSize) {
  for (const Named& deep : kDeep) {
    SCOPED_TRACE(deep.name);
    const Network net = deep.make();
    KILN_ASSERT_OK_AND_ASSIGN(const auto inputs, DrawInputs(net, kSeed));
    KILN_ASSERT_OK_AND_ASSIGN(const auto outputs, ByOneDnn(net, inputs));
    ExpectModerate(outputs[0]);
  }
}

TEST_F(NetworksTest, WeightsDependOnSeedAndNameAlone) {
  const Network net = MobileNet(SmallMobileNet());
  Weights one(1), two(2), again(1);
  const Weight& first = net.weights()[0];
  const Weight& last = net.weights().back();
  KILN_ASSERT_OK(again.Get(last));
  KILN_ASSERT_OK_AND_ASSIGN(const NDArray a, one.Get(first));
  KILN_ASSERT_OK_AND_ASSIGN(const NDArray b, two.Get(first));
  KILN_ASSERT_OK_AND_ASSIGN(const NDArray c, again.Get(first));
  EXPECT_EQ(a.elements<float>(), c.elements<float>());
  EXPECT_NE(a.elements<float>(), b.elements<float>());
}

TEST_F(NetworksTest, OneDnnRefusesABatchNormThatFollowsNoConvolution) {
  Network net("n");
  const Value x = net.Floats("image", {1, 4, 8, 8});
  net.Output(net.BatchNorm(net.Relu(x), "norm"));
  Weights weights(kSeed);
  const auto program = OneDnnProgram::Create(net, weights, 1);
  EXPECT_EQ(program.status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace kiln::models
