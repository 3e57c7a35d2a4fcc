// What is wrong with an input is said once, with its place and the way out.
// The programs run as a user runs them: a crash, a signal or a silent failure
// is seen here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "kiln/tests/regression/bad_files.h"
#include "kiln/tests/support/subprocess.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct BadInput {
  const char* name;
  // Words of the command line, parted by '|'.
  const char* command;
  const char* message;  // a part of it
  int status = 1;
  // A file that must be as it was.
  const char* untouched = nullptr;
  bool close_stdin = false;
};

#define OPT "tools/opt|--module|"
#define TRACE "tools/opt|--module|mm.py|--trace|"
#define RUN "tools/run|--module|mm.py|--input|"
#define TUNE "tools/tune|--space|space.py|--trials|2|--work-dir|work|--module|"
#define SPACE "tools/tune|--module|mm.py|--trials|2|--work-dir|work|--space|"
#define EINSUM "tools/run|--einsum|C[i,j] += A[i,k] * B[k,j]|--shape|"

constexpr BadInput kBadInputs[] = {
    // Programs.
    {"Syntax", OPT "syntax.py", "syntax.py:1:9: this `(` is never closed"},
    {"UndefinedBuffer", OPT "undefined.py", "`Q` is not defined"},
    {"GridArity", OPT "arity.py", "there are 3 names for 2 loops"},
    {"LongConjunction", OPT "and.py", "operations in a row"},
    {"Latin1", OPT "latin.py", "latin.py:6:24: this byte is no UTF-8"},
    {"HugeInteger", OPT "integer.py", "does not fit in 64 bits"},
    {"ShapeOverflow", OPT "overflow.py", "multiply to more bytes"},
    {"IndexCount", OPT "rank.py", "`A` has 2 dimensions, but 1 index"},
    {"ElementType", OPT "dtype.py", "`float33` is no element type"},
    {"DeepNesting", OPT "deep.py", "more than 200 levels deep"},
    {"BytesThatAreNoText", OPT "bytes.py", "bytes.py:9:"},
    {"EmptyFile", OPT "empty.py", "empty.py: there is no program here"},
    {"JunkProto", OPT "junk.pb", "are no module in proto form"},
    {"TextWithByteZero", OPT "zero_byte.py", "has no byte 0"},
    {"Utf16", OPT "utf16.py", "saved as UTF-8"},
    {"ProtoVersion", OPT "version.pb", "schema version 99"},
    {"MissingFile", OPT "missing.py", "cannot open missing.py: No such file"},
    {"FolderAsFile", OPT "empty_dir", "empty_dir: it is a folder"},
    {"NoProgram", "tools/opt", "no program is given; use one of --module"},
    {"TwoPrograms", OPT "mm.py|--workload|gmm", "more than one program"},
    {"StdinIsEmpty", OPT "-", "stdin: there is no program here"},
    {"StdinIsClosed", OPT "-", "cannot read the standard input", 1, nullptr,
     true},
    {"LyingRegion", OPT "lying_region.py",
     "the block reads A[63 - vi], which T.reads(A[vi]) does not hold where i"},
    {"PastTheEnd", OPT "past_end.py",
     "the load of A[vi + 64] is out of bounds: index 0 runs from 64 to 127, "
     "and the extent of that dimension of `A` is 64"},
    {"PastTheBuffer", OPT "past_buffer.py", "outside of it where i = 64"},
    {"FlatPastTheEnd", OPT "flat_past_end.py", "where i = 62"},
    {"ViewPastTheEnd", OPT "view_past_end.py", "reaches 4 bytes beyond"},
    {"NegativeGrid", OPT "negative_grid.py", "the negative extent -4"},
    {"IteratorLeavesItsDomain", OPT "domain.py",
     "leaves its domain [0, 32) where i = 32"},
    {"AxisTwice", OPT "axis_twice.py", "has an iterator `vi` already"},
    {"GridTwice", OPT "grid_twice.py", "two of these loops are called `i`"},
    {"LoopInsideOfBlock", OPT "outer_loop.py", "uses its own iterators"},
    {"FloatOverflow", OPT "large_float.py", "too large for a float64"},
    {"Float32Overflow", OPT "large_float32.py", "does not fit float32"},
    {"NarrowingStore", OPT "narrow.py", "this is int32 where int8 is needed"},
    {"FloatIntoInt", OPT "no_cast.py", "this is float32 where int32 is"},
    {"ReadsTwice", OPT "reads_twice.py", "this block has T.reads already"},
    {"InitTakesNothing", OPT "init_value.py", "takes at most 0 arguments"},
    {"AssignedLoop", OPT "assigned_loop.py", "`i` is the variable of a loop"},
    {"AssignedIterator", OPT "assigned_iterator.py", "`vi` is an iterator"},
    {"AssignedTensor", OPT "assigned_tensor.py", "`A` is a tensor here"},
    {"Step", OPT "step.py", "step.py:4:27: the loops of a program step by 1"},
    {"ReturnInside", OPT "return.py", "a tensor function returns no value"},
    {"PrintInside", OPT "print_inside.py", "computes a value and drops it"},
    {"TabsOfTwoKinds", OPT "two_tabs.py", "indent by spaces alone"},
    {"CallInModule", OPT "module_call.py", "means nothing in a module"},
    {"SeveralFunctions", OPT "two.py|--stage|asm", "choose one with --func"},
    {"UnknownFunction", OPT "two.py|--func|h", "no such function, only f, g"},
    // Flags.
    {"UnknownFlag", OPT "mm.py|--nope", "--nope is no flag of this tool"},
    {"FlagType", OPT "mm.py|--seed|abc", "--seed: \"abc\" is no value"},
    {"NoValue", OPT "mm.py|--stage|--seed|1", "--seed is the next flag"},
    {"ValueWithDash", OPT "mm.py|--stage|asm|--target|-mcpu=z99",
     "has to be \"llvm\""},
    {"NoFlag", "tools/opt|mm.py", "\"mm.py\" is no flag"},
    {"Stage", OPT "mm.py|--stage|x", "--stage x is unknown; stages are"},
    {"Format", OPT "mm.py|--format|xml", "use text or proto"},
    {"TargetKind", OPT "mm.py|--stage|asm|--target|riscv",
     "has to be \"llvm\""},
    {"Cpu", OPT "mm.py|--stage|asm|--target|llvm -mcpu=z99",
     "LLVM knows no CPU \"z99\""},
    {"CompareWithMissing", OPT "mm.py|--compare|missing.py", "cannot open"},
    // Schedules.
    {"TraceMissing", TRACE "missing.py", "cannot open missing.py"},
    {"TraceIsFolder", TRACE "empty_dir", "empty_dir: it is a folder"},
    {"UnknownPrimitive", TRACE "primitive.py",
     "primitive.py:4:5: there is no primitive `wibble`"},
    {"UnknownKeyword", TRACE "keyword.py", "split has no parameter `wibble`"},
    {"StaleLoop", TRACE "stale.py", "loop i was split by step 3", 3},
    {"UndefinedVariable", TRACE "variable.py", "`zz` is not defined"},
    {"UnknownBlock", TRACE "block.py", "no block of `main` is called `D`", 3},
    {"ParallelReduction", TRACE "reduction.py", "are not independent", 3},
    {"ZeroFactor", TRACE "zero.py", "factor 0 is not positive", 3},
    {"FactorOverflow", TRACE "factors.py", "factors overflows", 3},
    {"TooManyNames", TRACE "names.py", "2 values for 3 names"},
    {"NegativeExtents", OPT "negative_mm.py|--trace|negative.py",
     "the loop has the negative extent -16"},
    {"MergeOfOne", TRACE "merge.py", "give two loops or more", 3},
    {"PartsTooLong", TRACE "parts.py", "iterations are left", 3},
    {"RangesOfIndices", TRACE "ranges.py", "a list of (begin, end)", 3},
    {"DoubledList", TRACE "doubled.py", "more than 10000 parts"},
    {"KeywordTwice", TRACE "twice.py", "`loop` is given twice"},
    {"NoSchedule", TRACE "empty.py", "there is no schedule here"},
    {"ValueDropped", TRACE "dropped.py", "computes a value and drops it"},
    {"ScheduleAssigned", TRACE "assigned.py", "`sch` is the schedule here"},
    {"AfterReturn", TRACE "returned.py", "after `return` never runs"},
    {"UseOfNothing", TRACE "void.py", "argument `loop` has to be a loop", 3},
    {"ValuesAlone", TRACE "values.py", "there is no schedule here"},
    {"ScheduleParameters", TRACE "parameters.py", "takes the schedule alone"},
    {"ForInSchedule", TRACE "for.py", "a schedule function is a straight line"},
    {"DivisionByZero", TRACE "division.py", "division.py:4:"},
    {"ThreadsOnCpu", TRACE "bind.py|--stage|asm", "which a CPU does not have"},
    {"NestedParallel", TRACE "nested.py|--stage|asm", "fuse the two"},
    // Tensors.
    {"RelativeToleranceIsNoNumber", RUN "@a.npy|--input|@a.npy|--rtol|nan",
     "has to be a number from 0"},
    {"InfiniteTolerance", RUN "@a.npy|--input|@a.npy|--atol|inf",
     "has to be a number from 0"},
    {"NegativeTolerance", RUN "@a.npy|--input|@a.npy|--rtol|-0.5",
     "has to be a number from 0"},
    {"InputCount", RUN "@a.npy", "1 --input are given"},
    {"InputMissing", RUN "@none.npy|--input|@a.npy", "cannot open none.npy"},
    {"InputType", RUN "@double.npy|--input|@a.npy", "this is float64[16, 16]"},
    {"InputShape", RUN "@shape.npy|--input|@a.npy", "this is float32[8, 16]"},
    {"InputRank", RUN "@flat.npy|--input|@a.npy", "this is float32[256]"},
    {"InputCut", RUN "@cut.npy|--input|@a.npy", "the file has 924"},
    {"HeaderCut", RUN "@header.npy|--input|@a.npy", "within its header"},
    {"InputHuge", RUN "@huge.npy|--input|@a.npy", "impossible shape"},
    {"InputOfObjects", RUN "@object.npy|--input|@a.npy", "is not supported"},
    {"TypeWithByteZero", RUN "@zero_type.npy|--input|@a.npy", "'<f4?'"},
    {"InputIsText", RUN "@mm.py|--input|@a.npy", "is not an .npy file"},
    {"InputIsFolder", RUN "@empty_dir|--input|@a.npy", "cannot read empty_dir"},
    {"RandomOfNoType", RUN "random:2xq32|--input|@a.npy", "no element type"},
    {"NoMemory", RUN "zeros:9999999x999999xf32|--input|@a.npy", "no memory"},
    {"NoInput", RUN "wibble|--input|@a.npy", "an input is @FILE.npy"},
    {"ScalarForTensor", RUN "value:3|--input|@a.npy", "A is a tensor"},
    {"TooManyExpected",
     RUN "@a.npy|--input|@a.npy|--expect|@a.npy|--expect|@a.npy",
     "2 --expect are given"},
    {"Mismatch",
     RUN "random:16x16xf32|--input|random:16x16xf32|--expect|@a.npy",
     "256 of 256 elements differ", 2},
    {"OutputFolder", RUN "@a.npy|--input|@a.npy|--output|@none/x.npy",
     "cannot create none/x.npy"},
    {"OutOfBoundsAtOnce",
     "tools/run|--module|far.py|--input|@a.npy|--input|@a.npy",
     "written outside of buffer C: index 100000000 in dimension 0"},
    {"OutOfBoundsChecked",
     "tools/run|--module|far.py|--check|--input|@a.npy|--input|@a.npy",
     "written outside of buffer C"},
    {"ReadPastARow", "tools/run|--module|row.py|--input|@a.npy|--input|@i.npy",
     "read outside of buffer A: index 16 in dimension 1, whose extent is 16"},
    {"ReadPastARowTuned",
     "tools/tune|--trials|2|--work-dir|work|--module|row.py|--input|@a.npy|"
     "--input|@i.npy",
     "read outside of buffer A: index 16 in dimension 1, whose extent is 16"},
    {"NoRangeOfIndices",
     "tools/tune|--trials|2|--work-dir|work|--module|never.py",
     "give an --input for each tensor that it reads"},
    {"ExtentsThatDisagree",
     "tools/run|--module|symbolic_pair.py|--input|random:10xf32|--input|"
     "zeros:12xf32",
     "read outside of buffer A: index 10 in dimension 0, whose extent is 10"},
    {"Deadline", RUN "@a.npy|--input|@a.npy|--deadline|0",
     "--deadline is a number of seconds"},
    {"InputsOfTwoFunctions",
     "tools/tune|--workload|gmm:4,4,4|--workload|sfm:4,4|--work-dir|work|"
     "--input|@a.npy",
     "--input is for one function"},
    // Einsums and workloads.
    {"Einsum", "tools/run|--einsum|C[i,j] += A[i,k] *|--shape|i=1",
     "expected an expression"},
    {"EinsumExtents", EINSUM "i=4,j=4", "add k=EXTENT"},
    {"EinsumShapeOverflow",
     "tools/opt|--einsum|C[i,j] = A[i,j]|--shape|i=4294967296,j=4294967296",
     "in bytes overflows 64 bits"},
    {"EinsumUnusedExtent", EINSUM "i=4,j=4,k=4,z=5",
     "index `z`, which stands nowhere"},
    {"EinsumExtent", EINSUM "i=4,j=4,k=zz", "is not NAME=EXTENT"},
    {"Workload", "tools/tune|--workload|x:1", "unknown name \"x\"; known are"},
    {"DimCount", "tools/tune|--workload|gmm:1,2", "write gmm:N,M,K"},
    {"ZeroDim", "tools/tune|--workload|gmm:0,2,3", "N = 0 must be positive"},
    {"NegativeDim", "tools/tune|--workload|gmm:-1,2,3", "must be positive"},
    {"HugeDim", "tools/tune|--workload|gmm:99999999999999999999999,2,3",
     "is too large"},
    {"DimIsWord", "tools/tune|--workload|gmm:a,b,c", "no whole number"},
    // Tuning.
    {"NegativeTrials", TUNE "mm.py|--trials|-1",
     "--trials has to be at least 0"},
    {"Minutes", TUNE "mm.py|--minutes|-1", "has to be a number from 0"},
    {"MinutesAreNoNumber", TUNE "mm.py|--minutes|nan", "a number from 0"},
    {"TuneTarget", TUNE "mm.py|--target|cuda", "has to be \"llvm\""},
    {"TuneForeignCpu",
     TUNE "mm.py|--target|llvm -mcpu=x86-64 -mattr=+xop,+amx-tile",
     "it lacks "},
    {"TuneFeature", TUNE "mm.py|--target|llvm -mattr=+nonsense",
     "LLVM knows no feature \"nonsense\""},
    {"RunForeignCpu",
     "tools/run|--module|mm.py|--target|"
     "llvm -mcpu=x86-64 -mattr=+xop,+amx-tile",
     "it lacks "},
    {"RunOtherArchitecture",
     "tools/run|--module|mm.py|--target|llvm -mtriple=aarch64-linux-gnu",
     "code for aarch64-unknown-linux-gnu cannot run on this machine"},
    {"TuneOtherArchitecture", TUNE "mm.py|--target|llvm -mtriple=aarch64-linux",
     "code for aarch64-unknown-linux cannot run on this machine"},
    {"Triple", OPT "mm.py|--stage|asm|--target|llvm -mtriple=riscv64-linux-gnu",
     "it takes 64-bit x86 or AArch64"},
    {"CpuOfOtherArchitecture",
     OPT "mm.py|--stage|asm|--target|"
         "llvm -mtriple=aarch64-linux-gnu -mcpu=haswell",
     "LLVM knows no CPU \"haswell\" for aarch64"},
    {"FeatureMisspelled", OPT "mm.py|--stage|asm|--target|llvm -mattr=+avx22",
     "did you mean"},
    {"SymbolicTuned", TUNE "symbolic.py|--space|copy.py",
     "give constant shapes"},
    {"OutOfBoundsTuned", TUNE "far.py", "outside of buffer C"},
    {"Search", TUNE "mm.py|--search|walk", "there are evolutionary, random"},
    {"Allocation", TUNE "mm.py|--allocation|all", "gradient and round-robin"},
    {"TuneObjective", TUNE "mm.py|--objective|best", "weighted-sum, max"},
    {"TuneSuite", "tools/tune|--suite|resnet", "there are ansor"},
    {"TuneWeights", TUNE "mm.py|--weights|1,2", "2 numbers for 1 functions"},
    {"PrintBest", TUNE "mm.py|--print-best|c", "there are schedule and cpp"},
    {"RecordsAreNone", TUNE "mm.py|--records|mm.py", "tuning log, line 1"},
    {"FlightLogIsNone", "tools/tune|--replay-log|mm.py", "flight log, line 1"},
    {"Model", TUNE "mm.py|--model|guess", "guess"},
    {"SpaceMissing", SPACE "missing.py", "cannot open missing.py"},
    {"SpaceAlwaysRefuses", SPACE "refuses.py", "cannot be inlined"},
    {"SpaceOfUnknownBlock", SPACE "block.py", "is called `D`"},
    {"Probabilities", SPACE "weights.py", "2 candidates and 1 probabilities"},
    {"SpaceForGpu", SPACE "bind.py", "no trial succeeded"},
    {"WorkDirIsFile", TUNE "mm.py|--work-dir|file", "Not a directory; name"},
    {"WorkDirEmpty", TUNE "mm.py|--work-dir|", "--work-dir is empty"},
    {"WorkDirReadOnly", TUNE "mm.py|--work-dir|/proc/kiln", "name another one"},
    {"DatabaseIsText", TUNE "mm.py|--work-dir|text", "not an SQLite file", 1,
     "text/database.sqlite"},
    {"DatabaseForeign", TUNE "mm.py|--work-dir|foreign", "that Kiln made", 1,
     "foreign/database.sqlite"},
    {"DatabaseSchema", TUNE "mm.py|--work-dir|schema", "schema version 99", 1,
     "schema/database.sqlite"},
    {"DatabaseCorrupt", TUNE "mm.py|--work-dir|corrupt", "damaged", 1,
     "corrupt/database.sqlite"},
    // Benchmarks.
    {"Suite", "tools/bench|--suite|x", "--suite x is not known"},
    {"Shapes", "tools/bench|--shapes|1x2", "such as 512x512x512"},
    {"Threads", "tools/bench|--threads|0", "is not what is wanted"},
    {"Repetitions", "tools/bench|--repetitions|0", "has to be at least 1"},
    {"ThreadsWithoutCpus", "tools/bench|--threads|4000",
     "every thread is tied to a CPU"},
    {"EndlessSeconds", "tools/bench|--seconds|inf", "60 at most"},
    {"ManyThreads", RUN "@a.npy|--input|@a.npy|--threads|100000",
     "has to be from 0 (the target's cores) to 1024"},
    {"NegativeThreads", RUN "@a.npy|--input|@a.npy|--threads=-1",
     "has to be from 0"},
    {"Verbose", TUNE "mm.py|--verbose|7", "has to be 0, 1 or 2"},
    {"FlagWantsNumber", OPT "mm.py|--seed|-1",
     "which takes a whole number from 0 on"},
    {"ReportMissing", "tools/report|--work-dir|missing",
     "--work-dir names a folder that tune has left"},
    {"ReportDamaged", "tools/report|--work-dir|text", "not an SQLite file", 1,
     "text/database.sqlite"},
    {"ReportAgainstFile", "tools/report|--work-dir|missing|--json|--output|-",
     "both print"},
    {"Seconds", "tools/bench|--seconds|-1", "has to be above 0"},
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// One message, which may quote a line with a caret and a part of the program.
void ExpectOneMessage(const std::string& err) {
  for (const char* trace : {"Check failed", "terminate called", "Sanitizer",
                            "Stack dump", "RAW:", "Segmentation"}) {
    EXPECT_THAT(err, Not(HasSubstr(trace)));
  }
  EXPECT_LE(std::count(err.begin(), err.end(), '\n'), 24);
}

class BadInputTest : public ::testing::TestWithParam<BadInput> {
 protected:
  static void SetUpTestSuite() {
    std::string name = ::testing::TempDir() + "/kiln_bad_XXXXXX";
    folder_ = new std::string(mkdtemp(name.data()));
    testing::WriteBadFiles(*folder_);
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(*folder_);
    delete folder_;
  }

  static std::string* folder_;
};

std::string* BadInputTest::folder_ = nullptr;

TEST_P(BadInputTest, IsRefusedWithOneClearMessage) {
  const BadInput& bad = GetParam();
  const std::string watched =
      bad.untouched ? *folder_ + "/" + bad.untouched : "";
  const std::string before = ReadAll(watched);
  testing::ProcessOptions options;
  options.folder = *folder_;
  options.close_stdin = bad.close_stdin;
  const testing::ProcessResult result =
      testing::RunProcess(absl::StrSplit(bad.command, '|'), options);
  SCOPED_TRACE(result.err);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.status, bad.status);
  EXPECT_THAT(result.err + result.out, HasSubstr(bad.message));
  ExpectOneMessage(result.err);
  EXPECT_EQ(ReadAll(watched), before);
  EXPECT_TRUE(testing::AllDescendantsEnd(5));
}

INSTANTIATE_TEST_SUITE_P(All, BadInputTest, ::testing::ValuesIn(kBadInputs),
                         [](const auto& tested) {
                           return std::string(tested.param.name);
                         });

}  // namespace
}  // namespace kiln
