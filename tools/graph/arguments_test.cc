#include "kiln/tools/graph/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// main(x: float32[2], s: a shape of `rank` extents).
struct Called {
  vm::Executable executable;
  vm::Function function;
};

Called Function(int rank) {
  Called called;
  vm::Type tensor;
  tensor.kind = vm::Type::Kind::kTensor;
  tensor.rank = 1;
  tensor.has_dims = true;
  tensor.dims = {KernelDim::Constant(2)};
  tensor.dtype = DType::Float(32);
  vm::Type shape;
  shape.kind = vm::Type::Kind::kShape;
  shape.rank = rank;
  called.executable.types = {tensor, shape};
  called.function.name = "main";
  called.function.params = {"x", "s"};
  for (int32_t i = 0; i < 2; ++i) {
    vm::Instruction match{vm::Opcode::kMatch, vm::Instruction::kNone, i};
    match.args = {{vm::Operand::Kind::kRegister, false, i}};
    called.function.code.push_back(match);
  }
  return called;
}

absl::StatusOr<std::vector<vm::Value>> Arguments(
    int rank, std::vector<std::string> inputs) {
  const Called called = Function(rank);
  return GraphArguments(called.executable, called.function,
                        {{}, std::move(inputs), 1});
}

std::vector<int64_t> ExtentsOf(const vm::Value& value) {
  return *std::get<vm::Shape>(value).extents;
}

TEST(ArgumentsTest, AShapeIsSpelledByItsExtents) {
  KILN_ASSERT_OK_AND_ASSIGN(
      auto args,
      Arguments(vm::Type::kAnyRank, {"random:2xf32", "shape:3x0x12"}));
  EXPECT_THAT(ExtentsOf(args[1]), ElementsAre(3, 0, 12));
  KILN_ASSERT_OK_AND_ASSIGN(args, Arguments(0, {"random:2xf32", "shape:"}));
  EXPECT_THAT(ExtentsOf(args[1]), ElementsAre());
}

TEST(ArgumentsTest, OfAShapeTheRankIsEnoughToDrawOne) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto args, Arguments(2, {}));
  EXPECT_THAT(ExtentsOf(args[1]), ElementsAre(2, 2));
  EXPECT_THAT(Arguments(vm::Type::kAnyRank, {}).status().message(),
              HasSubstr("parameter s: what it takes is not told"));
}

TEST(ArgumentsTest, WhatIsNoShapeIsRefused) {
  for (const char* text :
       {"shape:a", "shape:2x-3", "shape:2,3", "shape:99999999999999999999"}) {
    EXPECT_THAT(Arguments(2, {"random:2xf32", text}).status().message(),
                HasSubstr("expected extents such as shape:2x3"))
        << text;
  }
}

}  // namespace
}  // namespace kiln
