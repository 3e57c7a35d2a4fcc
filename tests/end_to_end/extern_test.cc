// Functions that a kernel calls by name and its host provides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

extern "C" {
float Gain(float x, int32_t factor) { return x * factor + 0.5f; }
int8_t Narrow(int8_t a, uint8_t b, int16_t c, uint16_t d) {
  return static_cast<int8_t>(
      a == -1 && b == 255 && c == -2 && d == 65534 ? -100 : a + b + c + d);
}
double Wide(double x, int64_t a, uint64_t b, uint32_t c) {
  return x + static_cast<double>(a) + static_cast<double>(b) + c;
}
bool Not(bool x) { return !x; }
std::vector<int32_t> noted;
void Note(int32_t value) { noted.push_back(value); }
std::atomic<int> calls{0};
int32_t Count() { return ++calls; }
}

template <typename F>
const void* Address(F* function) {
  return reinterpret_cast<const void*>(function);
}

absl::StatusOr<LoadedKernel> Load(const std::string& text) {
  KILN_ASSIGN_OR_RETURN(const Function f, ParseFunction("extern", text));
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel, CompileKernel(f, HostTarget()));
  ObjectLoadOptions options;
  options.symbols = {{"gain", Address(&Gain)}, {"narrow", Address(&Narrow)},
                     {"wide", Address(&Wide)}, {"not_", Address(&Not)},
                     {"note", Address(&Note)}, {"count", Address(&Count)}};
  KILN_ASSIGN_OR_RETURN(const auto object,
                        LoadedObject::Load(kernel.object, options));
  KILN_ASSIGN_OR_RETURN(const KilnKernel entry, object->Kernel(kernel.symbol));
  return LoadedKernel::Create(std::move(kernel.signature), entry, object);
}

// One loop of 8 around a block that stores `value` into B.
std::string MapText(const std::string& loop, const std::string& a,
                    const std::string& b, const std::string& value) {
  return absl::StrReplaceAll(
      R"py(
@T.prim_func
def f(A: T.Buffer((8,), "$a"), B: T.Buffer((8,), "$b")):
    for i in T.$loop(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = $value
)py",
      {{"$loop", loop}, {"$a", a}, {"$b", b}, {"$value", value}});
}

class ExternTest : public testing::Test {
 protected:
  template <typename A, typename B>
  std::vector<B> Map(const std::string& text, DType a, DType b,
                     std::vector<A> input) {
    absl::StatusOr<LoadedKernel> kernel = Load(text);
    KILN_EXPECT_OK(kernel.status());
    if (!kernel.ok()) return {};
    NDArray x = *NDArray::Empty({8}, a), y = *NDArray::Zeros({8}, b);
    input.resize(8);
    std::copy(input.begin(), input.end(), x.data_as<A>());
    KILN_EXPECT_OK(kernel->Call(host_.abi(), {x, y}));
    const absl::Span<B> elements = y.elements<B>();
    return std::vector<B>(elements.begin(), elements.end());
  }

  ThreadPool pool_;
  KernelHost host_{&pool_};
};

TEST_F(ExternTest, AreCalledForEachElementInLoopsOfEveryKind) {
  for (const char* loop : {"serial", "parallel", "vectorized", "unroll"}) {
    SCOPED_TRACE(loop);
    const std::vector<float> y = Map<float, float>(
        MapText(loop, "float32", "float32",
                "T.call_pure_extern(\"float32\", \"gain\", A[vi], "
                "T.Cast(\"int32\", vi)) + T.float32(1)"),
        DType::Float(32), DType::Float(32), {1, 2, 3, 4, 5, 6, 7, 8});
    EXPECT_THAT(y, ElementsAre(1.5, 3.5, 7.5, 13.5, 21.5, 31.5, 43.5, 57.5));
  }
}

TEST_F(ExternTest, ArgumentsAndResultsAreThoseOfC) {
  const std::vector<int8_t> narrow = Map<int8_t, int8_t>(
      MapText("serial", "int8", "int8",
              "T.call_pure_extern(\"int8\", \"narrow\", A[vi], "
              "T.Cast(\"uint8\", A[vi]), T.Cast(\"int16\", A[vi]) * "
              "T.int16(2), T.Cast(\"uint16\", A[vi]) * T.uint16(2))"),
      DType::Int(8), DType::Int(8), {-1, 1});
  EXPECT_EQ(narrow[0], -100);
  EXPECT_EQ(narrow[1], 6);
  const std::vector<double> wide = Map<double, double>(
      MapText("serial", "float64", "float64",
              "T.call_pure_extern(\"float64\", \"wide\", A[vi], vi - 3, "
              "T.uint64(1000), T.uint32(4000000000))"),
      DType::Float(64), DType::Float(64), {0.25});
  EXPECT_EQ(wide[0], 0.25 - 3 + 1000 + 4e9);
  const std::vector<uint8_t> flipped = Map<uint8_t, uint8_t>(
      MapText("serial", "bool", "bool",
              "T.call_pure_extern(\"bool\", \"not_\", A[vi])"),
      DType::Bool(), DType::Bool(), {0, 1, 1, 0, 1, 1, 1, 1});
  EXPECT_THAT(flipped, ElementsAre(1, 0, 0, 1, 0, 0, 0, 0));
}

TEST_F(ExternTest, ThoseWithEffectsAreCalledOnceEachInOrder) {
  KILN_ASSERT_OK_AND_ASSIGN(const LoadedKernel kernel, Load(R"py(
@T.prim_func
def f(B: T.Buffer((4,), "int32")):
    for i in range(4):
        B[i] = T.call_extern("int32", "count")
        T.evaluate(T.call_extern("void", "note", B[i] * 10))
)py"));
  calls = 0;
  noted.clear();
  KILN_ASSERT_OK_AND_ASSIGN(NDArray b, NDArray::Zeros({4}, DType::Int(32)));
  KILN_ASSERT_OK(kernel.Call(host_.abi(), {b}));
  EXPECT_THAT(b.elements<int32_t>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(noted, ElementsAre(10, 20, 30, 40));
}

TEST_F(ExternTest, TheProcessProvidesWhatTheTableLacks) {
  const std::vector<double> y = Map<double, double>(
      MapText("serial", "float64", "float64",
              "T.call_pure_extern(\"float64\", \"cbrt\", A[vi])"),
      DType::Float(64), DType::Float(64), {27, 8});
  EXPECT_NEAR(y[0], 3, 1e-12);
}

TEST_F(ExternTest, AreRefusedByName) {
  const struct {
    const char* value;
    const char* message;
  } cases[] = {
      {"T.call_pure_extern(\"float32\", \"kiln_no_such\", A[vi])",
       "\"kiln_no_such\" names no function of C"},
      {"T.call_pure_extern(\"float32\", \"llvm.trap\", A[vi])",
       "\"llvm.trap\" names no function of C"},
      {"T.call_pure_extern(\"float32\", \"no_such_function\", A[vi])",
       "undefined symbol 'no_such_function'"},
      {"T.call_extern(\"float32\", \"gain\", T.address_of(A[vi]))",
       "of \"gain\" passes handle as argument 0"},
      {"T.call_extern(\"float32\", \"gain\", A.data)",
       "of \"gain\" passes handle as argument 0"},
      {"T.Cast(\"float32\", T.call_extern(\"float16\", \"half\", A[vi]))",
       "of \"half\" returns float16"},
  };
  for (const auto& test : cases) {
    const absl::Status status =
        Load(MapText("serial", "float32", "float32", test.value)).status();
    EXPECT_FALSE(status.ok()) << test.value;
    EXPECT_THAT(std::string(status.message()), HasSubstr(test.message));
  }
}

}  // namespace
}  // namespace kiln
