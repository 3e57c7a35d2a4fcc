#include "kiln/tools/support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/tensor/automatic.h"
#include "kiln/ir/tensor/canonical.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kTwo[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("A"):
                v = T.axis.spatial(8, i)
                A[v] = T.float32(1)
    @T.prim_func
    def g(A: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("A"):
                v = T.axis.spatial(8, i)
                A[v] = T.float32(2)
)";

std::string Write(const std::string& name, const std::string& contents) {
  const std::string path = ::testing::TempDir() + "/" + name;
  KILN_EXPECT_OK(WriteFileAtomically(path, contents));
  return path;
}

std::string Message(const ProgramFlags& flags) {
  const auto module = LoadProgram(flags);
  EXPECT_FALSE(module.ok());
  return std::string(module.status().message());
}

TEST(ProgramTest, ReadsTextAndItsMessageAlike) {
  ProgramFlags flags;
  flags.module = Write("two.py", kTwo);
  KILN_ASSERT_OK_AND_ASSIGN(Module text, LoadProgram(flags));
  flags.module = Write("two.pb", SerializeModule(text));
  KILN_ASSERT_OK_AND_ASSIGN(Module message, LoadProgram(flags));
  EXPECT_TRUE(StructurallyEqual(text, message));
  EXPECT_EQ(message.functions.size(), 2u);
}

TEST(ProgramTest, MakesWorkloadsAndFormulas) {
  ProgramFlags flags;
  flags.workload = "gmm:16,16,16";
  KILN_EXPECT_OK(LoadProgram(flags).status());
  flags = {};
  flags.einsum = "C[i,j] += A[i,k] * B[k,j]";
  flags.shape = "i=4,j=5,k=6";
  KILN_EXPECT_OK(LoadProgram(flags).status());
}

TEST(ProgramTest, SaysOfEachFunctionThatNothingIsChosenForIt) {
  ProgramFlags flags;
  flags.module = Write("two.py", kTwo);
  for (bool is_auto : {true, false}) {
    flags.is_auto = is_auto;
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, LoadProgram(flags));
    for (const Function& f : module.functions) EXPECT_EQ(IsAuto(f), is_auto);
  }
}

TEST(ProgramTest, ErrorsNameTheFlagOrTheFile) {
  EXPECT_THAT(Message({}), HasSubstr("--workload"));
  ProgramFlags flags;
  flags.workload = "gmm";
  flags.module = "m.py";
  EXPECT_THAT(Message(flags), HasSubstr("more than one"));
  flags = {};
  flags.module = "/no/such/m.py";
  EXPECT_THAT(Message(flags), HasSubstr("/no/such/m.py"));
  flags = {};
  flags.einsum = "C[i] = A[i]";
  EXPECT_THAT(Message(flags), HasSubstr("--shape"));
  flags.shape = "i=zero";
  EXPECT_THAT(Message(flags), HasSubstr("--shape"));
  flags = {};
  flags.workload = "warp:1";
  EXPECT_THAT(Message(flags), HasSubstr("warp"));
  flags = {};
  flags.module = Write("bad.pb", std::string("\x00\x01\x02junk", 7));
  EXPECT_THAT(Message(flags), HasSubstr("bad.pb"));
  flags.module = Write("empty.py", "");
  EXPECT_THAT(Message(flags), HasSubstr("empty.py"));
}

TEST(ProgramTest, ReadsFunctionsWithoutBlocks) {
  ProgramFlags flags;
  flags.module = Write("plain.py", R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.float32(1)
)");
  KILN_ASSERT_OK_AND_ASSIGN(Module text, LoadProgram(flags));
  flags.module = Write("plain.pb", SerializeModule(text));
  KILN_ASSERT_OK_AND_ASSIGN(Module message, LoadProgram(flags));
  EXPECT_TRUE(StructurallyEqual(text, message));
}

TEST(ProgramTest, FunctionIsChosenByNameAmongSeveral) {
  ProgramFlags flags;
  flags.module = Write("two.py", kTwo);
  KILN_ASSERT_OK_AND_ASSIGN(Module module, LoadProgram(flags));
  KILN_ASSERT_OK_AND_ASSIGN(const Function* g, ChooseFunction(module, "g"));
  EXPECT_EQ(g->name, "g");
  EXPECT_THAT(ChooseFunction(module, "").status().message(),
              HasSubstr("--func: f, g"));
  EXPECT_THAT(ChooseFunction(module, "h").status().message(),
              HasSubstr("only f, g"));
  module.functions.resize(1);
  KILN_EXPECT_OK(ChooseFunction(module, "").status());
}

}  // namespace
}  // namespace kiln
