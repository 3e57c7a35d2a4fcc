// Cases from text, and what is refused.
#include "kiln/tests/op_values/case.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::op_values {
namespace {

using testing::HasSubstr;

absl::StatusOr<std::vector<Case>> Read(const std::string& text) {
  const std::string folder = testing::TempDir() + "/cases";
  KILN_EXPECT_OK(MakeFolders(folder));
  KILN_EXPECT_OK(WriteFileAtomically(folder + "/a.txt", text));
  return ReadCases(folder);
}

TEST(CaseTest, ProgramsRunsAndValues) {
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<Case> cases, Read(R"(# A note.
case topk of two
tolerance 1e-3 1e-4
| def main():
|     return ()
run
in int64[2] 9007199254740993 -1
in shape 2 3
in float 0.5
out tuple 2
out tuple 1
out integer 3
out float16[] nan
run
case add
)"));
  ASSERT_EQ(cases.size(), 2);
  const Case& c = cases[0];
  EXPECT_EQ(c.op, "topk");
  EXPECT_EQ(c.name, "of two");
  EXPECT_EQ(c.program, "@R.function\ndef main():\n    return ()\n");
  EXPECT_EQ(c.tolerance->rtol, 1e-3);
  ASSERT_EQ(c.runs.size(), 2);
  const op_values::Run& run = c.runs[0];
  ASSERT_EQ(run.inputs.size(), 3);
  EXPECT_EQ(std::get<NDArray>(run.inputs[0]).elements<int64_t>()[0],
            9007199254740993);
  EXPECT_EQ(vm::Describe(run.inputs[1]), "shape (2, 3)");
  const auto& fields = std::get<vm::Tuple>(run.output)->fields;
  ASSERT_EQ(fields.size(), 2);
  EXPECT_EQ(vm::Describe(std::get<vm::Tuple>(fields[0])->fields[0]),
            "integer 3");
  EXPECT_EQ(vm::Describe(fields[1]), "float16[]");
  EXPECT_EQ(cases[1].op, "add");
  EXPECT_EQ(cases[1].name, "");
}

TEST(CaseTest, ErrorsNameTheLine) {
  const struct {
    const char *text, *message;
  } kBad[] = {
      {"run\n", "a.txt:1: no case is open"},
      {"case a\nin float32[1] 1\n", "a.txt:2: no run is open"},
      {"case a\nrun\nin float32[2] 1\n", "not as many elements"},
      {"case a\nrun\nin float32[1] x\n", "not a number: \"x\""},
      {"case a\nrun\nin tuple 1\nout integer 1\n", "not a field"},
      {"case a\nrun\nwhat\n", "unknown line: \"what\""},
      {"case a\nrun\nin float99[1] 1\n", "not a type"},
  };
  for (const auto& bad : kBad) {
    EXPECT_THAT(Read(bad.text).status().message(), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace kiln::op_values
