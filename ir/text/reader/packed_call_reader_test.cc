// Calls of packed functions and notes: what they read as, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Wrap(const std::string& body) {
  std::string text =
      "@T.prim_func\n"
      "def f(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), "
      "\"float32\"), I: T.Buffer((16,), \"int32\"), n: T.int64):\n";
  std::string line;
  for (char c : body + "\n") {
    line += c;
    if (c != '\n') continue;
    text += "    " + line;
    line.clear();
  }
  return text;
}

// What is handed over is the array, whichever way it is written.
TEST(PackedCallReaderTest, APackedFunctionIsHandedArraysOfBuffers) {
  for (const auto& [plain, made] :
       std::vector<std::pair<std::string, std::string>>{
           {"A",
            "T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(16, 16), 0, "
            "2, T.float32(0), 0)"},
           {"I",
            "T.tvm_stack_make_array(I.data, T.tvm_stack_make_shape(16), 0, 1, "
            "0, 0)"}}) {
    const auto call = [](const std::string& argument) {
      return Wrap("T.call_packed(\"f\", " + argument + ", n)");
    };
    KILN_ASSERT_OK_AND_ASSIGN(Module a, ParseModule("a", call(plain)));
    KILN_ASSERT_OK_AND_ASSIGN(Module b, ParseModule("b", call(made)));
    EXPECT_TRUE(StructurallyEqual(a, b)) << plain;
  }
}

// A note is about its body, which a print that dropped it would widen.
TEST(PackedCallReaderTest, ANoteIsAboutWhatFollows) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Module module,
      ParseModule("f",
                  Wrap("with T.attr({\"k\": 1}):\n    A[0, 0] = 1.0\n"
                       "T.attr(0, \"m\", 2)\nA[1, 0] = 2.0\nB[2, 0] = 3.0")));
  EXPECT_THAT(
      PrintModule(module),
      HasSubstr("with T.attr({\"k\": 1}):\n            A[0, 0] = T.float32(1)\n"
                "        T.attr({\"m\": 2})\n        A[1, 0] = T.float32(2)\n"
                "        B[2, 0] = T.float32(3)\n"));
}

// As the peer prints blocks of foreign code; what they touch is worked out.
TEST(PackedCallReaderTest,
     ABlockOfForeignCodeThatSaysNothingTouchesWhatItDoes) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Module module,
      ParseModule("f", Wrap("with T.sblock(\"sort\"):\n    T.reads()\n"
                            "    T.writes()\n    T.call_packed(\"f\", A)\n"
                            "    B[1, 2] = 0.0\n"
                            "with T.sblock(\"none\"):\n    T.reads()\n"
                            "    T.writes()\n    T.call_packed(\"g\")")));
  EXPECT_THAT(PrintModule(module),
              AllOf(HasSubstr("T.reads(A[0:16, 0:16])\n"),
                    HasSubstr("T.writes(A[0:16, 0:16], B[1, 2])\n"),
                    HasSubstr("T.reads()\n            T.writes()\n"
                              "            T.call_packed(\"g\")")));
}

// Nothing outside of a block can name what the block allocates.
TEST(PackedCallReaderTest, RegionsDoNotSpeakOfBuffersInsideOfTheBlock) {
  for (const char* local : {"c = T.alloc_local((1,), \"int32\")",
                            "c = T.sblock_alloc_buffer((1,), \"int32\")"}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        Module module,
        ParseModule("f", Wrap("with T.sblock(\"x\"):\n    T.reads()\n"
                              "    T.writes()\n    " +
                              std::string(local) +
                              "\n    c[0] = I[0]\n"
                              "    for i in range(T.Cast(\"int64\", c[0])):\n"
                              "        A[i, c[0]] = B[c[0], 2]")));
    const std::string text = PrintModule(module);
    EXPECT_THAT(text, AllOf(HasSubstr("[0], B[0:16, 2])\n"),
                            HasSubstr("T.writes(A[0:16, 0:16])\n")));
    KILN_ASSERT_OK_AND_ASSIGN(Module again, ParseModule("f", text));
    EXPECT_TRUE(StructurallyEqual(module, again)) << text;
  }
}

struct BadProgram {
  std::string body, place, message;
};

TEST(PackedCallReaderTest, RefusesWithThePlace) {
  const std::vector<BadProgram> cases = {
      {"x = T.attr(0, \"k\", 1)", ":3:9:", "T.attr is a statement"},
      {"T.attr(0, \"k\")", ":3:5:", "value"},
      {"T.attr({3: 1})", ":3:13:", "string"},
      {"T.attr({\"k\": [1]})", ":3:18:", "no value"},
      {"T.attr(n, \"thread_extent\", 4)", ":3:15:", "T.launch_thread"},
      {"with T.attr(0, \"virtual_thread\", 2):\n    pass",
       ":3:20:", "T.launch_thread"},
      {"T.tvm_stack_make_array(n, 0)", ":3:5:", "takes 6 arguments, not 2"},
      {"T.tvm_stack_make_array(n, 0, 0, 0, A, 0)", ":3:40:", "2 indices"},
      {"T.call_packed(\"f\", nothing)", ":3:24:", "`nothing` is not defined"},
      {"C = T.alloc_local((4, -1))", ":3:23:", "negative extent"},
  };
  for (const BadProgram& bad : cases) {
    EXPECT_THAT(
        ParseModule("f.py", Wrap(bad.body)),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("f.py" + bad.place), HasSubstr(bad.message))))
        << bad.body;
  }
}

}  // namespace
}  // namespace kiln
