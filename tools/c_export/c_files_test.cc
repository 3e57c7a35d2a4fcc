// kernel.h and example.c compile as C99 and C++ without a warning, and the
// example prints what the interpreter computes.
#include "kiln/tools/c_export/c_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/tools/support/default_schedule.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

struct Ran {
  int status = -1;
  std::string output;
};

Ran Shell(const std::string& command) {
  Ran ran;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return ran;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    ran.output.append(buffer, n);
  }
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

const std::vector<std::string>& Compilers() {
  static const std::vector<std::string> found = [] {
    std::vector<std::string> names;
    for (const char* name : {"gcc", "clang-19"}) {
      if (Shell(absl::StrCat("command -v ", name)).status == 0) {
        names.push_back(name);
      }
    }
    return names;
  }();
  return found;
}

Target TwoThreads() {
  Target target = HostTarget();
  target.num_cores = 2;
  return target;
}

// The files of a kernel in a folder of their own.
struct Exported {
  std::string folder;
  CKernel kernel;
};

absl::StatusOr<Exported> Export(const std::string& name, const Function& source,
                                const Function& scheduled) {
  LlvmBuilder builder(TwoThreads());
  KILN_ASSIGN_OR_RETURN(const BuildResult built, builder.Build(scheduled));
  Exported exported;
  KILN_ASSIGN_OR_RETURN(exported.kernel,
                        DescribeForC(source, built, TwoThreads()));
  exported.folder = absl::StrCat(testing::TempDir(), "/c_", name);
  KILN_RETURN_IF_ERROR(MakeFolders(exported.folder));
  auto write = [&](const char* file, const std::string& text) {
    return WriteFileAtomically(absl::StrCat(exported.folder, "/", file), text);
  };
  KILN_RETURN_IF_ERROR(write("kernel.o", built.object));
  if (built.preparation) {
    KILN_RETURN_IF_ERROR(write("prepare.o", built.preparation->object));
  }
  KILN_RETURN_IF_ERROR(write("kernel.h", CHeader(exported.kernel)));
  KILN_RETURN_IF_ERROR(write("example.c", CExample(exported.kernel)));
  KILN_RETURN_IF_ERROR(write("kiln_host.h", CHostHeaderFile()));
  KILN_RETURN_IF_ERROR(write("kiln_host.c", CHostSourceFile()));
  return exported;
}

// As C99 and as C++, with every compiler and no warning.
void ExpectClean(const Exported& exported) {
  ASSERT_FALSE(Compilers().empty());
  for (const std::string& compiler : Compilers()) {
    for (const char* language : {"-x c -std=c99", "-x c++ -std=c++11"}) {
      for (const char* file : {"example.c", "kiln_host.c"}) {
        const Ran ran = Shell(absl::StrCat(
            "cd ", exported.folder, " && ", compiler, " ", language,
            " -Wall -Wextra -Werror -pedantic -Wshadow -fsyntax-only ", file));
        EXPECT_EQ(ran.status, 0) << compiler << language << ran.output;
      }
    }
  }
}

// The commands of the example's head comment.
std::string RunExample(const Exported& exported) {
  const std::string text = *ReadFile(exported.folder + "/example.c");
  std::string commands = "cd " + exported.folder;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(text, "\n"))) {
    if (absl::StartsWith(line, " *   ")) {
      absl::StrAppend(&commands, " && ", line.substr(5));
    }
    if (line == " */") break;
  }
  commands = absl::StrReplaceAll(
      commands, {{"&& cc ", absl::StrCat("&& ", Compilers()[0], " ")}});
  const Ran ran = Shell(commands);
  EXPECT_EQ(ran.status, 0) << commands << "\n" << ran.output;
  return ran.output;
}

// What c_files.h says of the contents.
double Element(const CParam& param, size_t b, int64_t i) {
  ValueRange range{0, 5};
  if (param.dtype.is_bool()) range = {0, 1};
  if (param.dtype.is_float()) range = {1, 11};
  if (param.range) range = *param.range;
  const uint64_t mixed = (static_cast<uint64_t>(i) + 97 * b) * 2654435761u >> 7;
  const auto whole = static_cast<double>(
      range.low +
      static_cast<int64_t>(mixed %
                           static_cast<uint64_t>(range.high - range.low + 1)));
  return param.dtype.is_float() && !param.range ? whole / 8 : whole;
}

int64_t Extent(const std::string& text) {
  const int64_t number = std::atoll(text.c_str());
  return number > 0 || text == "0" ? number : kExampleExtent;
}

// "NAME: N elements, sum S, first ..., last L" of the interpreter's tensors.
struct Expected {
  std::string name;
  std::vector<double> numbers;
};

Expected Summary(const CParam& param, const Tensor& tensor) {
  Expected expected{param.name, {static_cast<double>(tensor.size()), 0}};
  for (int64_t i = 0; i < tensor.size(); ++i) {
    expected.numbers[1] += tensor.GetReal(i);
  }
  for (int64_t i = 0; i < tensor.size() && i < 5; ++i) {
    expected.numbers.push_back(tensor.GetReal(i));
  }
  expected.numbers.push_back(tensor.GetReal(tensor.size() - 1));
  return expected;
}

std::vector<Expected> Interpreted(const Function& source,
                                  const CKernel& kernel) {
  std::vector<std::unique_ptr<Tensor>> tensors(source.params.size());
  std::vector<Argument> args;
  for (size_t b = 0; b < source.params.size(); ++b) {
    const CParam& param = kernel.params[b];
    if (!param.is_buffer) {
      if (param.dtype.is_float()) {
        args.push_back(0.5);
      } else {
        args.push_back(param.is_extent ? kExampleExtent : int64_t{1});
      }
      continue;
    }
    std::vector<int64_t> shape;
    for (const std::string& extent : param.extents) {
      shape.push_back(Extent(extent));
    }
    tensors[b] = std::make_unique<Tensor>(param.dtype, shape);
    for (int64_t i = 0; i < tensors[b]->size(); ++i) {
      tensors[b]->Set(i, Element(param, b, i));
    }
    args.push_back(tensors[b].get());
  }
  const auto interpreter = Interpreter::Create(source);
  KILN_EXPECT_OK(interpreter.status());
  KILN_EXPECT_OK(interpreter->Run(args));
  std::vector<Expected> all;
  const std::vector<ArgumentUse> uses = ArgumentUses(source);
  for (size_t b = 0; b < uses.size(); ++b) {
    if (tensors[b] && uses[b] != ArgumentUse::kRead) {
      all.push_back(Summary(kernel.params[b], *tensors[b]));
    }
  }
  return all;
}

// The numbers of a line of output.
std::vector<double> NumbersOf(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream words(absl::StrReplaceAll(line, {{",", " "}}));
  std::string word;
  while (words >> word) {
    char* end = nullptr;
    const double number = std::strtod(word.c_str(), &end);
    if (*end == '\0') numbers.push_back(number);
  }
  return numbers;
}

void ExpectSame(const std::vector<Expected>& expected,
                const std::string& output) {
  std::vector<std::string> lines = absl::StrSplit(output, '\n');
  ASSERT_EQ(lines.size(), expected.size() + 1) << output;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(absl::StartsWith(lines[i], expected[i].name + ":")) << output;
    const std::vector<double> numbers =
        NumbersOf(lines[i].substr(lines[i].find(':') + 1));
    ASSERT_EQ(numbers.size(), expected[i].numbers.size()) << output;
    for (size_t k = 0; k < numbers.size(); ++k) {
      const double want = expected[i].numbers[k];
      EXPECT_NEAR(numbers[k], want, 2e-3 * std::abs(want) + 1e-6) << output;
    }
  }
}

void ExpectWorks(const std::string& name, const Function& source,
                 const Function& scheduled) {
  SCOPED_TRACE(name);
  KILN_ASSERT_OK_AND_ASSIGN(const Exported exported,
                            Export(name, source, scheduled));
  ExpectClean(exported);
  ExpectSame(Interpreted(source, exported.kernel), RunExample(exported));
}

void ExpectWorks(const std::string& name, const std::string& text) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction(name, text));
  ExpectWorks(name, f, f);
}

class WorkloadTest : public testing::TestWithParam<std::string> {};

TEST_P(WorkloadTest, TheExampleOfTheDefaultScheduleAgrees) {
  const std::string machine = testing::TempDir() + "/machine.json";
  KILN_ASSERT_OK(SaveMachine(DescribeMachine(), machine));
  setenv("KILN_MACHINE", machine.c_str(), 1);
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(GetParam()));
  const Function& f = module.functions[0];
  KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                            DefaultScheduleFor(module, f.name, TwoThreads()));
  ExpectWorks("workload", f, best.scheduled);
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadTest,
                         testing::Values("gmm:24,20,28",
                                         "gmm:32,64,48:layout_free", "sfm:8,32",
                                         "c2d:6,6,8,8,3,1,1",
                                         "c2d:7,7,32,32,3,1,1:layout_free",
                                         "nrm:4,6"));

TEST(CFilesTest, SeveralOutputsOneInPlaceAndNamesThatAreTaken) {
  ExpectWorks("outputs", R"py(
@T.prim_func
def register(double: T.Buffer((6, 4), "float32"), host: T.Buffer((6, 4), "float32"), I: T.Buffer((6,), "float32")):
    for i, j in T.grid(6, 4):
        with T.block("twice"):
            vi, vj = T.axis.remap("SS", [i, j])
            host[vi, vj] = double[vi, vj] * T.float32(2)
    for i, j in T.grid(6, 4):
        with T.block("sum"):
            vi, vj = T.axis.remap("SR", [i, j])
            I[vi] = I[vi] + double[vi, vj]
)py");
}

TEST(CFilesTest, ScalarsSymbolicShapesAndBuffersOfOneElement) {
  ExpectWorks("symbolic", R"py(
@T.prim_func
def f(a: T.handle, scale: T.float32, shift: T.int32, on: T.bool, b: T.handle, s: T.Buffer((), "float32")):
    n = T.int64()
    A = T.match_buffer(a, (n, 3), "float32")
    B = T.match_buffer(b, (n, 3), "float32")
    for i, j in T.grid(n, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.if_then_else(on, A[vi, vj] * scale + T.Cast("float32", shift), T.float32(0))
    with T.block("s"):
        s[()] = A[0, 0]
)py");
}

// Every extent of the example is 16.
TEST(CFilesTest, ExtentsMayBeComputed) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("f", R"py(
@T.prim_func
def f(a: T.handle, b: T.handle, c: T.handle):
    n, m = T.int64(), T.int32()
    A = T.match_buffer(a, (n, m), "int32")
    B = T.match_buffer(b, (n + m * 2, (n - 3) // 2), "int32")
    C = T.match_buffer(c, (T.min(n, 5), T.max(m % 7, 1)), "int32")
    for i, j in T.grid(n + m * 2, (n - 3) // 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.if_then_else(vi < n, A[vi, vj], vi * 10 + vj)
    for i, j in T.grid(T.min(n, 5), T.max(m % 7, 1)):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = 1
)py"));
  KILN_ASSERT_OK_AND_ASSIGN(const Exported exported, Export("computed", f, f));
  ExpectClean(exported);
  const std::string output = RunExample(exported);
  EXPECT_THAT(output, HasSubstr("B: 288 elements"));
  EXPECT_THAT(output, HasSubstr("C: 10 elements, sum 10, "));
  EXPECT_THAT(*ReadFile(exported.folder + "/kernel.h"),
              HasSubstr("B: int32[n + m * 2][(n - 3) // 2], row-major"));
}

TEST(CFilesTest, EveryElementType) {
  for (const char* type :
       {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
        "uint64", "float16", "bfloat16", "float64", "bool"}) {
    ExpectWorks(type, absl::StrReplaceAll(R"py(
@T.prim_func
def f(A: T.Buffer((5, 9), "TYPE"), B: T.Buffer((5, 9), "TYPE")):
    for i, j in T.grid(5, 9):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.max(A[vi, vj], A[4 - vi, vj])
)py",
                                          {{"TYPE", type}}));
  }
}

TEST(CFilesTest, IndicesStayInsideOfWhatTheyIndex) {
  ExpectWorks("gather", R"py(
@T.prim_func
def gather(table: T.Buffer((7, 4), "float32"), index: T.Buffer((12,), "int32"), out: T.Buffer((12, 4), "float32")):
    for i, j in T.grid(12, 4):
        with T.block("out"):
            vi, vj = T.axis.remap("SS", [i, j])
            out[vi, vj] = table[index[vi], vj]
)py");
}

TEST(CFilesTest, FunctionsOfLibm) {
  ExpectWorks("erf", R"py(
@T.prim_func
def f(A: T.Buffer((40,), "float64"), B: T.Buffer((40,), "float64")):
    for i in range(40):
        with T.block("B"):
            vi = T.axis.spatial(40, i)
            B[vi] = T.sin(A[vi]) + T.pow(A[vi], T.float64(0.3))
)py");
}

TEST(CFilesTest, NamesOfCAreAvoided) {
  EXPECT_EQ(CIdentifier("A", {}), "A");
  EXPECT_EQ(CIdentifier("A", {"A"}), "A_");
  EXPECT_EQ(CIdentifier("for", {"for_"}), "for__");
  EXPECT_EQ(CIdentifier("a.b", {}), "a_b");
  EXPECT_EQ(CIdentifier("_Bool", {}), "x_Bool");
  EXPECT_EQ(CIdentifier("", {}), "x");
  EXPECT_EQ(CIdentifier("2x", {}), "x2x");
}

TEST(CFilesTest, BuffersAreAlignedAsTheyAreDeclared) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("f", R"py(
@T.prim_func
def f(a: T.handle, B: T.Buffer((8,), "float32")):
    A = T.match_buffer(a, (16,), "float32", align=4)
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + A[vi + 8]
)py"));
  KILN_ASSERT_OK_AND_ASSIGN(const Exported exported, Export("aligned", f, f));
  ExpectClean(exported);
  const std::string program = R"c(
#include "kernel.h"
#include <stdio.h>
int main(void) {
  static float memory[64];
  float* a = (float*)(((uintptr_t)memory + 63) / 64 * 64);
  const KilnHost* host = KilnHostCreate(1);
  printf("%d %d %d %d\n", (int)kiln_f_call(host, a + 17, a),
         (int)kiln_f_call(host, a + 8, a), (int)kiln_f_call(host, a + 7, a),
         (int)kiln_f_call(host, (float*)((char*)a + 66), a));
  KilnHostDestroy(host);
  return 0;
}
)c";
  KILN_ASSERT_OK(WriteFileAtomically(exported.folder + "/aligned.c", program));
  const Ran ran = Shell(absl::StrCat(
      "cd ", exported.folder, " && ", Compilers()[0],
      " aligned.c kernel.o kiln_host.c -o aligned -lm -lpthread && ./aligned"));
  EXPECT_EQ(ran.output, "0 0 -3 -3\n");
}

TEST(CFilesTest, WhatIsPassedBadlyIsRefused) {
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, ParseFunction("f", R"py(
@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
)py"));
  KILN_ASSERT_OK_AND_ASSIGN(const Exported exported, Export("bad", f, f));
  const std::string program = R"c(
#include "kernel.h"
#include <stdio.h>
int main(void) {
  static float memory[64];
  float* a = (float*)(((uintptr_t)memory + 63) / 64 * 64);
  const KilnHost* host = KilnHostCreate(1);
  printf("%d %d %d %d\n", (int)kiln_f_call(host, a, NULL),
         (int)kiln_f_call(host, a + 1, a + 16), (int)kiln_f_call(host, a, a),
         (int)kiln_f_call(host, a, a + 16));
  KilnHostDestroy(host);
  return 0;
}
)c";
  KILN_ASSERT_OK(WriteFileAtomically(exported.folder + "/bad.c", program));
  const Ran ran = Shell(absl::StrCat(
      "cd ", exported.folder, " && ", Compilers()[0],
      " bad.c kernel.o kiln_host.c -o bad -lm -lpthread && ./bad"));
  EXPECT_EQ(ran.output, "-3 -3 -3 0\n");
}

}  // namespace
}  // namespace kiln
