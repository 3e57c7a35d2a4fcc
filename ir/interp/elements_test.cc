#include "kiln/ir/interp/elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::vector<const void*> Pointers(const std::vector<Tensor>& args) {
  std::vector<const void*> pointers;
  for (const Tensor& tensor : args) pointers.push_back(tensor.bytes.data());
  return pointers;
}

std::vector<int64_t> IndexOf(int64_t i, const std::vector<int64_t>& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d]) index[d] = i % shape[d];
  return index;
}

// Every `stride`th element of every parameter, backwards, is that of a run.
absl::Status CompareWithRun(const Function& f, uint64_t seed,
                            int64_t stride = 1) {
  KILN_ASSIGN_OR_RETURN(ElementInterpreter elements,
                        ElementInterpreter::Create(f));
  const std::vector<Tensor> before = RandomInputs(f, seed);
  std::vector<Tensor> after = before;
  KILN_RETURN_IF_ERROR(Interpret(f, after));
  KILN_RETURN_IF_ERROR(elements.Start(Pointers(before), int64_t{1} << 40));
  for (size_t p = 0; p < after.size(); ++p) {
    const Tensor& tensor = after[p];
    for (int64_t i = tensor.size() - 1; i >= 0; i -= stride) {
      KILN_ASSIGN_OR_RETURN(const std::vector<uint8_t> got,
                            elements.Get(p, IndexOf(i, tensor.shape)));
      const uint8_t* expected = tensor.bytes.data() + i * tensor.dtype.bytes();
      if (std::memcmp(got.data(), expected, got.size()) != 0) {
        return absl::InternalError(f.params[p].buffer->name + " differs at " +
                                   std::to_string(i));
      }
    }
  }
  return absl::OkStatus();
}

Function Read(const std::string& body) {
  absl::StatusOr<Function> f =
      ParseFunction("f.py",
                    "@T.prim_func\n"
                    "def main(A: T.Buffer((16,), \"float32\"),\n"
                    "         I: T.Buffer((16,), \"int32\"),\n"
                    "         C: T.Buffer((16,), \"float32\")):\n" +
                        body);
  EXPECT_TRUE(f.ok()) << f.status();
  return *f;
}

TEST(ElementsTest, OfEveryWorkloadAreThoseOfARun) {
  for (const char* spec :
       {"gmm:5,6,7", "c1d:9,2,3,3,2,1", "c2d:7,6,2,3,3,2,1",
        "c3d:5,4,6,2,3,3,2,1", "dep:7,6,3,3,2,1", "grp:6,7,4,8,3,1,1,4",
        "dil:9,8,2,3,3,1,1,2", "t2d:4,3,2,3,4,2,1", "cap:5,4,2,2,3,2,1",
        "nrm:6,7", "sfm:6,7", "cbr:7,6,2,3,3,2,1", "tbg:5,2,3"}) {
    absl::StatusOr<Module> module = MakeWorkload(spec);
    ASSERT_TRUE(module.ok()) << spec << ": " << module.status();
    SCOPED_TRACE(spec);
    KILN_EXPECT_OK(CompareWithRun(module->functions[0], 1));
  }
}

TEST(ElementsTest, OfRandomProgramsAreThoseOfARun) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const absl::Status status = CompareWithRun(RandomProgram(seed), seed, 7);
    EXPECT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
}

TEST(ElementsTest, ALargeMatmulTakesTheStepsOfItsSums) {
  const absl::StatusOr<Module> module = MakeWorkload("gmm:1024,1024,1024");
  ASSERT_TRUE(module.ok());
  absl::StatusOr<ElementInterpreter> elements =
      ElementInterpreter::Create(module->functions[0]);
  KILN_ASSERT_OK(elements);
  const std::vector<float> ones(1024 * 1024, 1);
  std::vector<float> c(1024 * 1024);
  KILN_ASSERT_OK(elements->Start({ones.data(), ones.data(), c.data()}, 10000));
  for (int64_t i : {0, 1023}) {
    const auto got = elements->Get(2, {0, i, 1023});
    KILN_ASSERT_OK(got);
    float value;
    std::memcpy(&value, got->data(), sizeof value);
    EXPECT_EQ(value, 1024);
  }
  EXPECT_LT(elements->steps(), 4200);
}

TEST(ElementsTest, ASpentBudgetIsAnErrorUntilTheNextStart) {
  const absl::StatusOr<Module> module = MakeWorkload("nrm:64,64");
  ASSERT_TRUE(module.ok());
  const Function& f = module->functions[0];
  absl::StatusOr<ElementInterpreter> elements = ElementInterpreter::Create(f);
  KILN_ASSERT_OK(elements);
  const std::vector<Tensor> args = RandomInputs(f, 1);
  KILN_ASSERT_OK(elements->Start(Pointers(args), 100));
  const std::vector<int64_t> index(args[1].shape.size());
  EXPECT_THAT(elements->Get(1, index),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("100")));
  KILN_ASSERT_OK(elements->Start(Pointers(args), 100000));
  KILN_EXPECT_OK(elements->Get(1, index));
}

TEST(ElementsTest, AnElementOutsideIsRefused) {
  const Function f = Read(
      "    for i in range(16):\n"
      "        C[i] = A[i]\n");
  absl::StatusOr<ElementInterpreter> elements = ElementInterpreter::Create(f);
  KILN_ASSERT_OK(elements);
  const std::vector<Tensor> args = RandomInputs(f, 1);
  KILN_ASSERT_OK(elements->Start(Pointers(args), 100));
  EXPECT_THAT(elements->Get(2, {16}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("parameter C has no element [16]")));
}

TEST(ElementsTest, ProgramsOfManyFormsHaveElements) {
  for (const char* body :
       {// A scatter with several stores into an element.
        "    for i in range(16):\n"
        "        C[(i * 3) % 4] = C[(i * 3) % 4] + A[i]\n",
        // A read and a condition that depend on data.
        "    for i in range(16):\n"
        "        if I[i] > 0:\n"
        "            C[i] = A[I[i]]\n"
        "        else:\n"
        "            C[i] = A[0 - I[i]]\n",
        // Parts by several writers; what no one writes stays.
        "    for i in range(5):\n"
        "        C[i] = A[i]\n"
        "    for i in range(3):\n"
        "        C[i * 2 + 7] = A[i] * A[i + 1]\n",
        // In place, twice.
        "    for i in range(16):\n"
        "        C[i] = C[i] * T.float32(2)\n"
        "    for i in range(16):\n"
        "        C[15 - i] = C[15 - i] + A[i]\n",
        // A loop whose bounds depend on another.
        "    for i in range(16):\n"
        "        for j in range(i + 1):\n"
        "            C[i] = C[i] + A[j]\n",
        // Stages in one loop.
        "    B = T.alloc_buffer((16,), \"float32\")\n"
        "    for i in range(16):\n"
        "        B[i] = A[i] * A[i]\n"
        "        C[i] = B[i] + A[0]\n"}) {
    const Function f = Read(body);
    SCOPED_TRACE(body);
    KILN_EXPECT_OK(CompareWithRun(f, 3));
  }
}

TEST(ElementsTest, AStoreAtADrawnPlaceIsFound) {
  Function f = Read(
      "    for i in range(16):\n"
      "        C[I[i] + 8 - I[i] // 8 * 8 - 8 + 0] = A[i]\n");
  std::vector<Tensor> before = RandomInputs(f, 5);
  for (int64_t i = 0; i < 16; ++i) before[1].SetInt(i, i * i % 8);
  std::vector<Tensor> after = before;
  KILN_ASSERT_OK(Interpret(f, after));
  absl::StatusOr<ElementInterpreter> elements = ElementInterpreter::Create(f);
  KILN_ASSERT_OK(elements);
  KILN_ASSERT_OK(elements->Start(Pointers(before), 10000));
  for (int64_t i = 0; i < 16; ++i) {
    const auto got = elements->Get(2, {i});
    KILN_ASSERT_OK(got);
    EXPECT_EQ(0, std::memcmp(got->data(), after[2].bytes.data() + i * 4, 4));
  }
}

TEST(ElementsTest, ValuesThatAreOverwrittenLaterAreRefused) {
  for (const char* body : {// A scan reads a neighbour.
                           "    for i in range(15):\n"
                           "        C[i + 1] = C[i] + A[i]\n",
                           // C is read between two writes.
                           "    B = T.alloc_buffer((16,), \"float32\")\n"
                           "    for i in range(16):\n"
                           "        C[i] = A[i]\n"
                           "    for i in range(16):\n"
                           "        B[i] = C[i]\n"
                           "    for i in range(16):\n"
                           "        C[i] = B[15 - i]\n",
                           // The same loop, other iterations.
                           "    B = T.alloc_buffer((16,), \"float32\")\n"
                           "    for i in range(16):\n"
                           "        B[i] = A[i] * A[i]\n"
                           "        C[i] = B[15 - i] + A[0]\n"}) {
    EXPECT_THAT(ElementInterpreter::Create(Read(body)),
                StatusIs(absl::StatusCode::kUnimplemented,
                         HasSubstr("may be read before it is written for the "
                                   "last time")))
        << body;
  }
}

}  // namespace
}  // namespace kiln
