// vm/capi/kiln.h as a program in C sees it: what it gives for a small model,
// from one thread and from several, and what it says to each misuse:
//
//   a tensor with strides {1, 2}    "...; make it contiguous (row-major) first"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/export/shared_model.h"
#include "kiln/tests/shipping/model.h"
#include "kiln/vm/capi/kiln.h"
#include "kiln/vm/executable/file.h"
#include "kiln/vm/ndarray/dlpack.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using testing::Expected;
using ::testing::HasSubstr;
using testing::SmallModel;
using testing::TestPath;
using testing::Weights;

// Floats of a shape, as DLPack has them.
struct Floats {
  explicit Floats(std::vector<int64_t> extents) : shape(std::move(extents)) {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    values = Weights(count);
    tensor = {values.data(),
              {KILN_DL_CPU, 0},
              static_cast<int32_t>(shape.size()),
              {KILN_DL_FLOAT, 32, 1},
              shape.data(),
              nullptr,
              0};
  }
  KilnArgument argument() const {
    KilnArgument argument = {KILN_TENSOR, 0, {}};
    argument.as.tensor = &tensor;
    return argument;
  }

  std::vector<int64_t> shape;
  std::vector<float> values;
  KilnDlTensor tensor;
};

KilnArgument Integer(int64_t value) {
  KilnArgument argument = {KILN_INTEGER, 0, {}};
  argument.as.integer = value;
  return argument;
}

std::vector<float> FloatsOf(const KilnValue* value) {
  KilnDlTensor tensor;
  if (KilnValueTensor(value, &tensor) != KILN_OK) return {};
  int64_t count = 1;
  for (int i = 0; i < tensor.ndim; ++i) count *= tensor.shape[i];
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + count};
}

// The path of the model, written once.
const std::string& ModelPath() {
  static const auto* path = [] {
    auto* path = new std::string(TestPath("capi_model.so"));
    const auto built = SmallModel();
    KILN_EXPECT_OK(built.status());
    KILN_EXPECT_OK(WriteSharedModel(*built, *path));
    return path;
  }();
  return *path;
}

class CapiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(KilnModelOpen(ModelPath().c_str(), &model_), KILN_OK)
        << KilnErrorText();
    ASSERT_EQ(KilnMachineCreate(model_, nullptr, &machine_), KILN_OK)
        << KilnErrorText();
  }
  void TearDown() override {
    KilnMachineDestroy(machine_);
    KilnModelClose(model_);
  }

  // The error of a call, which has to fail.
  std::string CallError(const char* function,
                        const std::vector<KilnArgument>& args) {
    KilnValue* result = nullptr;
    const int32_t status =
        KilnMachineCall(machine_, function, args.data(),
                        static_cast<int32_t>(args.size()), &result);
    EXPECT_NE(status, KILN_OK);
    EXPECT_EQ(result, nullptr);
    KilnValueRelease(result);
    return KilnErrorText();
  }

  std::string TensorError(const KilnDlTensor& tensor) {
    KilnArgument argument = {KILN_TENSOR, 0, {}};
    argument.as.tensor = &tensor;
    return CallError("main", {argument});
  }

  KilnModel* model_ = nullptr;
  KilnMachine* machine_ = nullptr;
};

TEST_F(CapiTest, GivesWhatTheModelComputes) {
  for (int64_t rows : {0, 1, 5, 64}) {
    const Floats x({rows, 8});
    const KilnArgument argument = x.argument();
    KilnValue* y = nullptr;
    ASSERT_EQ(KilnMachineCall(machine_, "main", &argument, 1, &y), KILN_OK)
        << KilnErrorText();
    EXPECT_EQ(KilnValueKindOf(y), KILN_TENSOR);
    EXPECT_EQ(FloatsOf(y), Expected(x.values));
    KilnValueRelease(y);
  }
}

TEST_F(CapiTest, AResultOutlivesEverything) {
  const Floats x({3, 8});
  const KilnArgument argument = x.argument();
  KilnValue* y = nullptr;
  KilnDlManagedTensor* owned = nullptr;
  ASSERT_EQ(KilnMachineCall(machine_, "main", &argument, 1, &y), KILN_OK);
  ASSERT_EQ(KilnValueToDlpack(y, &owned), KILN_OK);
  KilnDlTensor seen;
  ASSERT_EQ(KilnValueTensor(y, &seen), KILN_OK);
  EXPECT_EQ(owned->tensor.data, seen.data);  // no copy
  KilnValueRelease(y);
  TearDown();
  machine_ = nullptr;
  model_ = nullptr;
  const auto* data = static_cast<const float*>(owned->tensor.data);
  EXPECT_EQ(std::vector<float>(data, data + 3 * 16), Expected(x.values));
  owned->deleter(owned);
}

TEST_F(CapiTest, TellsItsFunctions) {
  ASSERT_EQ(KilnModelFunctionCount(model_), 3);
  EXPECT_STREQ(KilnModelFunctionName(model_, 0), "main");
  EXPECT_STREQ(KilnModelFunctionSignature(model_, "main"),
               "main(x: tensor float32[n, 8])");
  EXPECT_STREQ(KilnModelFunctionSignature(model_, "parts"),
               "parts(x: tensor float32[n, 8], k: number int64 k)");
  ASSERT_EQ(KilnModelParameterCount(model_, "parts"), 2);
  KilnParameter x, k;
  ASSERT_EQ(KilnModelParameter(model_, "parts", 0, &x), KILN_OK);
  ASSERT_EQ(KilnModelParameter(model_, "parts", 1, &k), KILN_OK);
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.kind, KILN_TENSOR);
  EXPECT_EQ(x.dtype.code, KILN_DL_FLOAT);
  EXPECT_EQ(x.dtype.bits, 32);
  ASSERT_EQ(x.rank, 2);
  EXPECT_EQ(x.extents[0], -1);
  EXPECT_EQ(x.extents[1], 8);
  EXPECT_EQ(k.kind, KILN_INTEGER);
  EXPECT_EQ(k.extents, nullptr);
}

TEST_F(CapiTest, TuplesComeApart) {
  const Floats x({2, 8});
  const KilnArgument args[] = {x.argument(), Integer(7)};
  KilnValue* tuple = nullptr;
  ASSERT_EQ(KilnMachineCall(machine_, "parts", args, 2, &tuple), KILN_OK)
      << KilnErrorText();
  int32_t count = 0;
  ASSERT_EQ(KilnValueFieldCount(tuple, &count), KILN_OK);
  ASSERT_EQ(count, 4);
  KilnValue* fields[4];
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(KilnValueField(tuple, i, &fields[i]), KILN_OK);
  }
  KilnValueRelease(tuple);
  EXPECT_EQ(FloatsOf(fields[0]), x.values);
  int64_t k = 0;
  EXPECT_EQ(KilnValueInteger(fields[1], &k), KILN_OK);
  EXPECT_EQ(k, 7);
  const int64_t* extents = nullptr;
  ASSERT_EQ(KilnValueShape(fields[2], &extents, &count), KILN_OK);
  EXPECT_THAT(std::vector<int64_t>(extents, extents + count),
              ElementsAre(2, 8));
  KilnValue* twice = nullptr;
  ASSERT_EQ(KilnValueField(fields[3], 0, &twice), KILN_OK);
  EXPECT_EQ(FloatsOf(twice)[3], 2 * x.values[3]);
  KilnValueRelease(twice);
  for (KilnValue* field : fields) KilnValueRelease(field);
}

TEST_F(CapiTest, AnArgumentThatIsGivenBackIsACopy) {
  Floats x({2, 8});
  const std::vector<float> before = x.values;
  KilnArgument argument = x.argument();
  KilnArgument tuple = {KILN_TUPLE, 1, {}};
  tuple.as.fields = &argument;
  for (const KilnArgument& given : {argument, tuple}) {
    KilnValue* same = nullptr;
    ASSERT_EQ(KilnMachineCall(machine_, "same", &given, 1, &same), KILN_OK)
        << KilnErrorText();
    std::fill(x.values.begin(), x.values.end(), -1.0f);
    KilnValue* field = nullptr;
    if (given.kind == KILN_TUPLE) {
      ASSERT_EQ(KilnValueField(same, 0, &field), KILN_OK);
    }
    EXPECT_EQ(FloatsOf(field ? field : same), before);
    x.values = before;
    KilnValueRelease(field);
    KilnValueRelease(same);
  }
}

int deleted = 0;

TEST_F(CapiTest, OwnedTensorsComeAndGoWithoutACopy) {
  Floats x({2, 8});
  KilnDlManagedTensor managed = {x.tensor, nullptr,
                                 [](KilnDlManagedTensor*) { ++deleted; }};
  deleted = 0;
  KilnValue* value = nullptr;
  ASSERT_EQ(KilnValueFromDlpack(&managed, &value), KILN_OK);
  KilnArgument argument = {KILN_VALUE, 0, {}};
  argument.as.value = value;
  KilnValue* same = nullptr;
  ASSERT_EQ(KilnMachineCall(machine_, "same", &argument, 1, &same), KILN_OK);
  KilnValueRelease(value);
  EXPECT_EQ(deleted, 0);
  KilnDlTensor seen;
  ASSERT_EQ(KilnValueTensor(same, &seen), KILN_OK);
  EXPECT_EQ(seen.data, x.values.data());
  KilnValueRelease(same);
  EXPECT_EQ(deleted, 1);
  // Where it is refused, it is still the caller's.
  managed.tensor.device.type = KILN_DL_CUDA;
  EXPECT_EQ(KilnValueFromDlpack(&managed, &value), KILN_INVALID_ARGUMENT);
  EXPECT_THAT(KilnErrorText(), HasSubstr("device type 2"));
  EXPECT_EQ(value, nullptr);
  EXPECT_EQ(deleted, 1);
}

TEST_F(CapiTest, OtherKindsPassThrough) {
  KilnArgument text = {KILN_TEXT, 0, {}};
  text.as.text = "hello";
  KilnArgument real = {KILN_REAL, 0, {}};
  real.as.real = 0.5;
  const int64_t extents[] = {3, 4};
  KilnArgument shape = {KILN_SHAPE, 2, {}};
  shape.as.extents = extents;
  const KilnArgument none = {KILN_NONE, 0, {}};
  KilnValue* values[4];
  int at = 0;
  for (const KilnArgument& given : {text, real, shape, none}) {
    ASSERT_EQ(KilnMachineCall(machine_, "same", &given, 1, &values[at]),
              KILN_OK)
        << KilnErrorText();
    EXPECT_EQ(KilnValueKindOf(values[at++]), given.kind);
  }
  const char* got = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(KilnValueText(values[0], &got, &bytes), KILN_OK);
  EXPECT_STREQ(got, "hello");
  EXPECT_EQ(bytes, 5);
  double half = 0;
  EXPECT_EQ(KilnValueReal(values[1], &half), KILN_OK);
  EXPECT_EQ(half, 0.5);
  EXPECT_EQ(KilnValueReal(values[0], &half), KILN_INVALID_ARGUMENT);
  EXPECT_THAT(KilnErrorText(), HasSubstr("the value is no real number"));
  EXPECT_EQ(half, 0);
  for (KilnValue* value : values) KilnValueRelease(value);
}

TEST_F(CapiTest, MachinesOfTwoThreadsShareTheModel) {
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      const KilnMachineOptions options = {sizeof(options), 1, 0, nullptr};
      KilnMachine* machine = nullptr;
      if (KilnMachineCreate(model_, &options, &machine) != KILN_OK) return;
      for (int i = 0; i < 200; ++i) {
        const Floats x({1 + (i + static_cast<int64_t>(t)) % 9, 8});
        const KilnArgument argument = x.argument();
        KilnValue* y = nullptr;
        if (KilnMachineCall(machine, "main", &argument, 1, &y) == KILN_OK) {
          right[t] += FloatsOf(y) == Expected(x.values);
        }
        KilnValueRelease(y);
      }
      KilnMachineDestroy(machine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, ElementsAre(200, 200, 200, 200));
}

// Either call may come first; the other one is refused or comes after it.
TEST_F(CapiTest, OneMachineInTwoThreadsIsRefusedOrRight) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(3);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const Floats x({4, 8});
      const KilnArgument argument = x.argument();
      for (int i = 0; i < 300; ++i) {
        KilnValue* y = nullptr;
        const int32_t status =
            KilnMachineCall(machine_, "main", &argument, 1, &y);
        wrong[t] += status == KILN_OK ? FloatsOf(y) != Expected(x.values)
                                      : status != KILN_FAILED_PRECONDITION;
        KilnValueRelease(y);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0));
}

TEST_F(CapiTest, WrongTensorsAreTold) {
  const Floats x({2, 8});
  KilnDlTensor tensor = x.tensor;
  tensor.dtype.bits = 64;
  EXPECT_THAT(TensorError(tensor), HasSubstr("float64[2, 8]"));
  tensor = x.tensor;
  tensor.dtype.lanes = 4;
  EXPECT_THAT(TensorError(tensor), HasSubstr("unsupported element type"));
  tensor = x.tensor;
  tensor.ndim = 1;
  EXPECT_THAT(TensorError(tensor), HasSubstr("float32[2]"));
  tensor.ndim = -1;
  EXPECT_THAT(TensorError(tensor), HasSubstr("rank -1"));
  tensor = x.tensor;
  int64_t shape[] = {4, 4};
  tensor.shape = shape;
  EXPECT_THAT(TensorError(tensor),
              HasSubstr("an extent is 4 where 8 is expected"));
  int64_t strides[] = {1, 2};
  tensor = x.tensor;
  tensor.strides = strides;
  EXPECT_THAT(TensorError(tensor), HasSubstr("strided"));
  tensor = x.tensor;
  tensor.device.type = KILN_DL_CUDA;
  EXPECT_THAT(TensorError(tensor), HasSubstr("copy it to the CPU"));
  tensor = x.tensor;
  tensor.data = nullptr;
  EXPECT_THAT(TensorError(tensor), HasSubstr("null address"));
  tensor = x.tensor;
  tensor.shape = nullptr;
  EXPECT_THAT(TensorError(tensor), HasSubstr("no shape"));
}

TEST_F(CapiTest, WrongCallsAreTold) {
  const Floats x({2, 8});
  EXPECT_THAT(CallError("main", {}), HasSubstr("takes 1 arguments (x), got 0"));
  EXPECT_THAT(CallError("other", {x.argument()}),
              HasSubstr("no function is called other; there are main, parts"));
  EXPECT_THAT(CallError("main", {Integer(1)}), HasSubstr("integer 1"));
  EXPECT_THAT(CallError("main", {{99, 0, {}}}),
              HasSubstr("argument 0: there are no arguments of kind 99"));
  for (int32_t kind : {KILN_TENSOR, KILN_TEXT, KILN_VALUE}) {
    EXPECT_THAT(CallError("same", {{kind, 0, {}}}), HasSubstr("null pointer"));
  }
  for (int32_t kind : {KILN_SHAPE, KILN_TUPLE}) {
    EXPECT_THAT(CallError("same", {{kind, 2, {}}}), HasSubstr("null pointer"));
    EXPECT_THAT(CallError("same", {{kind, -2, {}}}), HasSubstr("negative"));
  }
  KilnArgument loop = {KILN_TUPLE, 1, {}};
  loop.as.fields = &loop;
  EXPECT_THAT(CallError("same", {loop}), HasSubstr("more than 100 times"));
  // The machine still works.
  const KilnArgument argument = x.argument();
  KilnValue* y = nullptr;
  EXPECT_EQ(KilnMachineCall(machine_, "main", &argument, 1, &y), KILN_OK);
  KilnValueRelease(y);
}

TEST_F(CapiTest, NullPointersAreErrors) {
  const Floats x({2, 8});
  const KilnArgument argument = x.argument();
  KilnValue* y = nullptr;
  KilnModel* model = nullptr;
  KilnMachine* machine = nullptr;
  KilnParameter parameter;
  EXPECT_NE(KilnModelOpen(nullptr, &model), KILN_OK);
  EXPECT_NE(KilnModelOpen(ModelPath().c_str(), nullptr), KILN_OK);
  EXPECT_NE(KilnModelOpenSymbol(nullptr, &model), KILN_OK);
  EXPECT_NE(KilnMachineCreate(nullptr, nullptr, &machine), KILN_OK);
  EXPECT_NE(KilnMachineCreate(model_, nullptr, nullptr), KILN_OK);
  EXPECT_NE(KilnMachineCall(nullptr, "main", &argument, 1, &y), KILN_OK);
  EXPECT_NE(KilnMachineCall(machine_, nullptr, &argument, 1, &y), KILN_OK);
  EXPECT_NE(KilnMachineCall(machine_, "main", nullptr, 1, &y), KILN_OK);
  EXPECT_NE(KilnMachineCall(machine_, "main", &argument, -1, &y), KILN_OK);
  EXPECT_NE(KilnMachineCall(machine_, "main", &argument, 1, nullptr), KILN_OK);
  EXPECT_EQ(KilnModelFunctionCount(nullptr), 0);
  EXPECT_EQ(KilnModelFunctionName(nullptr, 0), nullptr);
  EXPECT_EQ(KilnModelFunctionName(model_, 3), nullptr);
  EXPECT_EQ(KilnModelFunctionName(model_, -1), nullptr);
  EXPECT_EQ(KilnModelFunctionSignature(model_, nullptr), nullptr);
  EXPECT_EQ(KilnModelFunctionSignature(model_, "other"), nullptr);
  EXPECT_EQ(KilnModelParameterCount(model_, "other"), -1);
  EXPECT_NE(KilnModelParameter(model_, "main", 1, &parameter), KILN_OK);
  EXPECT_NE(KilnModelParameter(model_, "main", 0, nullptr), KILN_OK);
  EXPECT_EQ(KilnValueKindOf(nullptr), KILN_NONE);
  int64_t integer = 5;
  EXPECT_NE(KilnValueInteger(nullptr, &integer), KILN_OK);
  EXPECT_EQ(integer, 0);
  EXPECT_NE(KilnValueTensor(nullptr, nullptr), KILN_OK);
  EXPECT_NE(KilnValueField(nullptr, 0, &y), KILN_OK);
  KilnValueRelease(nullptr);
  KilnMachineDestroy(nullptr);
  KilnModelClose(nullptr);
}

TEST_F(CapiTest, WrongOptionsAreTold) {
  KilnMachine* machine = nullptr;
  const auto error = [&](KilnMachineOptions options) {
    EXPECT_NE(KilnMachineCreate(model_, &options, &machine), KILN_OK);
    return std::string(KilnErrorText());
  };
  EXPECT_THAT(error({4, 0, 0, nullptr}), HasSubstr("struct_bytes is 4"));
  EXPECT_THAT(error({sizeof(KilnMachineOptions), -1, 0, nullptr}),
              HasSubstr("threads is -1"));
  EXPECT_THAT(error({sizeof(KilnMachineOptions), 0, 1, nullptr}),
              HasSubstr("null pointer"));
  const char* library = "/nowhere/functions.so";
  EXPECT_THAT(error({sizeof(KilnMachineOptions), 0, 1, &library}),
              HasSubstr("/nowhere/functions.so"));
}

TEST(CapiModelTest, WhatIsNoModelIsTold) {
  KilnModel* model = nullptr;
  EXPECT_EQ(KilnModelOpen("/nowhere/m.so", &model), KILN_NOT_FOUND);
  EXPECT_THAT(KilnErrorText(), HasSubstr("/nowhere/m.so"));
  KILN_ASSERT_OK(WriteFileAtomically(TestPath("text"), "text"));
  EXPECT_EQ(KilnModelOpen(TestPath("text").c_str(), &model),
            KILN_INVALID_ARGUMENT);
  EXPECT_THAT(KilnErrorText(), HasSubstr("is no executable of Kiln"));
  static const char kNoModel[200] = "no model";
  EXPECT_EQ(KilnModelOpenSymbol(kNoModel, &model), KILN_INVALID_ARGUMENT);
  EXPECT_THAT(KilnErrorText(), HasSubstr("is no model of Kiln"));
  int on_the_stack = 0;
  EXPECT_EQ(KilnModelOpenSymbol(&on_the_stack, &model), KILN_NOT_FOUND);
  EXPECT_EQ(model, nullptr);
}

TEST(CapiModelTest, TheVersionsAreTold) {
  EXPECT_EQ(KilnApiVersion(), KILN_API_VERSION);
  EXPECT_STREQ(KilnVersion(), "0.1.0");
}

TEST(CapiModelTest, FilesOfObjectsAreModelsToo) {
  const auto built = SmallModel();
  KILN_ASSERT_OK(built.status());
  const std::string path = TestPath("capi_model.kiln");
  KILN_ASSERT_OK(vm::WriteExecutable(*built, path));
  KilnModel* model = nullptr;
  ASSERT_EQ(KilnModelOpen(path.c_str(), &model), KILN_OK) << KilnErrorText();
  EXPECT_STREQ(KilnModelFunctionName(model, 0), "main");
  KilnModelClose(model);
}

}  // namespace
}  // namespace kiln
