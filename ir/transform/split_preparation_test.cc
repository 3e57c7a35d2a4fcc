#include "kiln/ir/transform/split_preparation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// y = x + the transposed w; `panels` says how the transposed one is made.
Function Program(const std::string& panels,
                 const std::string& attrs = "\"layout_free_buffers\": [1]",
                 const std::string& end = "") {
  const std::string text =
      "@T.prim_func\n"
      "def main(x: T.Buffer((4, 3), \"float32\"), w: T.Buffer((3, 4), "
      "\"float32\"), y: T.Buffer((4, 3), \"float32\")):\n"
      "    T.func_attr({" +
      attrs +
      "})\n"
      "    panels = T.alloc_buffer((4, 3))\n" +
      panels +
      "    for i, j in T.grid(4, 3):\n"
      "        with T.block(\"add\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            y[vi, vj] = x[vi, vj] + panels[vi, vj]\n" +
      end;
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? module->functions[0] : Function();
}

// A marked block that stores `value` into the panels.
std::string Marked(const std::string& value,
                   const std::string& target = "panels") {
  return "    for i, j in T.grid(4, 3):\n"
         "        with T.block(\"pack\"):\n"
         "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
         "            T.block_attr({\"meta_schedule.layout_rewrite_preproc\": "
         "True})\n"
         "            " +
         target + "[vi, vj] = " + value + "\n";
}

std::vector<std::string> ParamNames(const Function& f) {
  std::vector<std::string> names;
  for (const Param& param : f.params) names.push_back(param.buffer->name);
  return names;
}

Tensor Numbers(const Buffer& buffer, float first) {
  std::vector<int64_t> shape;
  for (const Expr& extent : buffer->shape) shape.push_back(*AsInt(extent));
  Tensor tensor(buffer->dtype, shape);
  auto* data = reinterpret_cast<float*>(tensor.bytes.data());
  for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
    data[i] = first + static_cast<float>(i * i % 7);
  }
  return tensor;
}

// Runs `f` whole and in two; the last parameter has to be the same.
void ExpectSameInTwo(const Function& f) {
  KILN_ASSERT_OK_AND_ASSIGN(const SplitFunction split, SplitPreparation(f));
  std::vector<Tensor> whole, parts;
  for (const Param& param : f.params) {
    whole.push_back(Numbers(param.buffer, static_cast<float>(whole.size())));
  }
  parts = whole;
  for (const Buffer& buffer : split.prepared) {
    parts.push_back(Numbers(buffer, 100));
  }
  KILN_ASSERT_OK(Interpret(f, whole));
  for (const auto& [half, positions] :
       {std::pair(&split.prepare, &split.prepare_args),
        std::pair(&split.main, &split.main_args)}) {
    std::vector<Tensor> args;
    for (int at : *positions) args.push_back(parts[at]);
    KILN_ASSERT_OK(Interpret(*half, args));
    for (size_t i = 0; i < args.size(); ++i) parts[(*positions)[i]] = args[i];
  }
  EXPECT_EQ(whole.back().bytes, parts[f.params.size() - 1].bytes);
}

void ExpectRefused(const Function& f, const std::string& why) {
  const absl::StatusOr<SplitFunction> split = SplitPreparation(f);
  ASSERT_FALSE(split.ok());
  EXPECT_EQ(split.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(split.status().message()), HasSubstr(why));
  EXPECT_THAT(std::string(split.status().message()), HasSubstr("main"));
}

TEST(SplitPreparationTest, WhatIsPreparedTakesThePlaceOfTheConstant) {
  const Function f = Program(Marked("w[vj, vi]"));
  ASSERT_TRUE(HasPreparation(f));
  KILN_ASSERT_OK_AND_ASSIGN(const SplitFunction split, SplitPreparation(f));
  EXPECT_EQ(split.prepare.name, "main_prepare");
  EXPECT_EQ(split.main.name, "main");
  EXPECT_THAT(ParamNames(split.prepare), ElementsAre("w", "panels"));
  EXPECT_THAT(ParamNames(split.main), ElementsAre("x", "panels", "y"));
  EXPECT_THAT(split.prepare_args, ElementsAre(1, 3));
  EXPECT_THAT(split.main_args, ElementsAre(0, 3, 2));
  EXPECT_THAT(PrintFunction(split.main), Not(HasSubstr("alloc_buffer")));
  EXPECT_THAT(PrintFunction(split.main), Not(HasSubstr(kLayoutFreeBuffers)));
  ExpectSameInTwo(f);
}

TEST(SplitPreparationTest, AConstantThatTheRestReadsTooStaysAParameter) {
  const std::string more =
      "    for i, j in T.grid(4, 3):\n"
      "        with T.block(\"more\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            y[vi, vj] = y[vi, vj] * w[vj, vi]\n";
  const Function f =
      Program(Marked("w[vj, vi]"), "\"layout_free_buffers\": [1]", more);
  KILN_ASSERT_OK_AND_ASSIGN(const SplitFunction split, SplitPreparation(f));
  EXPECT_THAT(ParamNames(split.main), ElementsAre("x", "w", "y", "panels"));
  ExpectSameInTwo(f);
}

TEST(SplitPreparationTest, ColdConstantsStayColdWhenTheyArePrepared) {
  const std::string free = "\"layout_free_buffers\": [1]";
  const auto cold = [](const std::string& attrs) {
    const auto split = SplitPreparation(Program(Marked("w[vj, vi]"), attrs));
    KILN_EXPECT_OK(split.status());
    return split.ok() ? ColdParams(split->main) : std::vector<int>{-1};
  };
  EXPECT_THAT(cold(free + ", \"cold_constants\": True"), ElementsAre(1));
  EXPECT_THAT(cold(free), ElementsAre());
}

TEST(SplitPreparationTest, StepsOfAPreparationKeepTheirBuffersToThemselves) {
  const std::string steps = "    twice = T.alloc_buffer((4, 3))\n" +
                            Marked("w[vj, vi] * T.float32(2)", "twice") +
                            Marked("twice[vi, vj] + w[vj, vi]");
  const Function f = Program(steps);
  KILN_ASSERT_OK_AND_ASSIGN(const SplitFunction split, SplitPreparation(f));
  EXPECT_THAT(ParamNames(split.prepare), ElementsAre("w", "panels"));
  EXPECT_THAT(PrintFunction(split.prepare), HasSubstr("alloc_buffer"));
  ExpectSameInTwo(f);
}

TEST(SplitPreparationTest, HalvesCanBePrintedAndReadAgain) {
  KILN_ASSERT_OK_AND_ASSIGN(const SplitFunction split,
                            SplitPreparation(Program(Marked("w[vj, vi]"))));
  for (const Function* half : {&split.prepare, &split.main}) {
    KILN_EXPECT_OK(ParseModule("half.py", PrintFunction(*half)).status());
  }
}

TEST(SplitPreparationTest, WithoutPreparationAllRunsInEveryCall) {
  const Function f = WithoutPreparation(Program(Marked("w[vj, vi]")));
  EXPECT_FALSE(HasPreparation(f));
  ExpectRefused(f, "no block is marked");
}

TEST(SplitPreparationTest, RefusesToPrepareWhatIsNotConstant) {
  ExpectRefused(Program(Marked("x[vi, vj]")),
                "uses parameter x, which layout_free_buffers does not list");
  ExpectRefused(Program(Marked("w[vj, vi]"), "\"tir.noalias\": True"),
                "uses parameter w");
  ExpectRefused(Program(Marked("y[vi, vj] * w[vj, vi]")), "uses parameter y");
}

TEST(SplitPreparationTest, RefusesAPreparationInTheLoopsOfOtherBlocks) {
  ExpectRefused(Program("    for i, j in T.grid(4, 3):\n"
                        "        with T.block(\"pack\"):\n"
                        "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                        "            T.block_attr({\"meta_schedule.layout_"
                        "rewrite_preproc\": True})\n"
                        "            panels[vi, vj] = w[vj, vi]\n"
                        "        with T.block(\"other\"):\n"
                        "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
                        "            y[vi, vj] = x[vi, vj]\n"),
                "\"pack\" is marked as a preparation and stands in one loop "
                "with \"other\"");
}

TEST(SplitPreparationTest, RefusesBuffersThatOthersWriteToo) {
  const std::string zero =
      "    for i, j in T.grid(4, 3):\n"
      "        with T.block(\"zero\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            panels[vi, vj] = T.float32(0)\n";
  ExpectRefused(Program(zero + Marked("w[vj, vi]")),
                "writes buffer panels, which other blocks write");
  const std::string reads =
      "    other = T.alloc_buffer((4, 3))\n"
      "    for i, j in T.grid(4, 3):\n"
      "        with T.block(\"other\"):\n"
      "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
      "            other[vi, vj] = x[vi, vj]\n";
  ExpectRefused(Program(reads + Marked("other[vi, vj]")),
                "reads buffer other, which other blocks write");
}

}  // namespace
}  // namespace kiln
