// Code for AArch64, made on another machine and read as text: scheduled
// products and depthwise convolutions keep their tiles in NEON registers.
//
//   .LBB3_2:                          label of the innermost loop
//     ldp  q25, q26, [x12]
//     fmla v23.4s, v25.4s, v24.4s     four multiply-adds
//     ...                             no [sp]: nothing is put on the stack
//     b.lo .LBB3_2
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/link/shared_object.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/trace_space.h"
#include "kiln/tools/support/default_schedule.h"

namespace kiln {
namespace {

constexpr char kNeoverse[] =
    "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1";

struct InnerLoop {
  int fmas = 0;  // of four lanes
  // Loads and stores on the stack: of vectors, and of anything.
  int spilled_vectors = 0, stack_places = 0;
};

// The label that `line` jumps to; empty for other lines.
std::string JumpOf(const std::string& line) {
  if (!absl::StartsWith(line, "\tb") && !absl::StartsWith(line, "\tcb") &&
      !absl::StartsWith(line, "\ttb")) {
    return "";
  }
  const size_t label = line.find(".LBB");
  return label == std::string::npos ? "" : line.substr(label);
}

// Whether `line` loads or stores a vector register: ldr q0, [x1].
bool MovesVector(absl::string_view line) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(line, '\t', absl::SkipEmpty());
  return parts.size() > 1 && absl::StrContains("qdsv", parts[1].substr(0, 1));
}

// Loops that have no other inside: from a label to the last jump back to it.
std::vector<InnerLoop> InnerLoops(const std::string& assembly) {
  const std::vector<std::string> lines = absl::StrSplit(assembly, '\n');
  std::map<std::string, size_t> labels;
  std::map<size_t, size_t> loops;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (absl::StartsWith(lines[i], ".LBB")) {
      labels[lines[i].substr(0, lines[i].find(':'))] = i;
    }
    const auto label = labels.find(JumpOf(lines[i]));
    if (label != labels.end()) loops[label->second] = i;
  }
  std::vector<InnerLoop> inner;
  for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
    const auto next = std::next(loop);
    if (next != loops.end() && next->first <= loop->second) continue;
    InnerLoop found;
    for (size_t i = loop->first; i <= loop->second; ++i) {
      const bool is_fma = absl::StrContains(lines[i], "fmla") &&
                          absl::StrContains(lines[i], ".4s");
      found.fmas += is_fma;
      const bool is_on_stack = absl::StrContains(lines[i], "[sp");
      found.stack_places += is_on_stack;
      found.spilled_vectors += is_on_stack && MovesVector(lines[i]);
    }
    inner.push_back(found);
  }
  return inner;
}

absl::StatusOr<std::vector<InnerLoop>> InnerLoopsOf(const Function& scheduled) {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget(kNeoverse));
  KILN_ASSIGN_OR_RETURN(const Function lowered,
                        LowerForTarget(scheduled, target));
  KILN_ASSIGN_OR_RETURN(const std::string assembly,
                        CompileToAssembly(lowered, "f", target));
  return InnerLoops(assembly);
}

// Some innermost loop multiplies and adds, and no such loop keeps vectors on
// the stack, nor more than an address for each 32 multiply-adds: those of eight
// rows in steps of four are more than there are registers.
void ExpectNoSpills(const Function& scheduled, const std::string& what) {
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<InnerLoop> loops,
                            InnerLoopsOf(scheduled));
  int fmas = 0;
  for (const InnerLoop& loop : loops) {
    if (loop.fmas == 0) continue;
    fmas += loop.fmas;
    EXPECT_EQ(loop.spilled_vectors, 0) << what;
    EXPECT_LE(loop.stack_places, loop.fmas / 32) << what;
  }
  EXPECT_GT(fmas, 4) << what;
}

constexpr const char* kTiled[] = {
    "gmm:512,512,512",    "gmm:128,768,3072",     "gmm:49,512,4608",
    "dep:56,56,64,3,1,1", "dep:112,112,32,3,1,1", "c1d:256,64,128,3,2,1"};

TEST(AArch64Test, DefaultSchedulesKeepTheirTilesInRegisters) {
  KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(kNeoverse));
  for (const char* workload : kTiled) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload(workload));
    KILN_ASSERT_OK_AND_ASSIGN(const DefaultSchedule best,
                              DefaultScheduleFor(module, "main", target));
    ExpectNoSpills(best.scheduled, absl::StrCat(workload, best.trace));
  }
}

// A tuner's: tiles of 6 rows and 16 columns, for 16 registers of 32 bytes, are
// 24 of these registers.
TEST(AArch64Test, TracesOfX86KeepTheirTilesInRegisters) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            MakeWorkload("gmm:512,512,512"));
  KILN_ASSERT_OK_AND_ASSIGN(const Function scheduled, ReplayTrace(module, 0, R"(
@T.prim_func
def apply(sch):
    b0 = sch.get_block(name="Z", func_name="main")
    l1, l2, l3, l4 = sch.get_loops(block=b0)
    l5, l6 = sch.split(loop=l2, factors=[None, 6])
    l7, l8, l9 = sch.split(loop=l3, factors=[None, 2, 8])
    l10, l11 = sch.split(loop=l4, factors=[None, 2])
    sch.reorder(l5, l7, l10, l11, l6, l8, l9)
    b12 = sch.cache_write(block=b0, write_buffer_index=0, storage_scope="local")
    sch.reverse_compute_at(block=b12, loop=l7)
    sch.vectorize(loop=l9)
    sch.unroll(loop=l8)
    sch.unroll(loop=l6)
    sch.unroll(loop=l11)
    b13 = sch.decompose_reduction(block=b0, loop=l10)
)"));
  ExpectNoSpills(scheduled, "tiles of 6x16");
}

// What a tuner measures first. Tiles at the edges, whose rows are asked for one
// by one, are not looked at.
TEST(AArch64Test, DrawnSchedulesOfProductsKeepWholeTilesInRegisters) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            MakeWorkload("gmm:512,512,512"));
  TraceSpace space(module, 0);
  AddRuleSchedules(CpuRules(), {.registers = kNeonRegisters}, &space);
  int drawn = 0;
  for (uint64_t i = 0; i < 24; ++i) {
    const absl::StatusOr<Candidate> candidate = space.Sample(/*seed=*/1, i);
    if (!candidate.ok()) continue;
    ++drawn;
    KILN_ASSERT_OK_AND_ASSIGN(const std::vector<InnerLoop> loops,
                              InnerLoopsOf(candidate->scheduled));
    const InnerLoop& whole = *absl::c_max_element(
        loops,
        [](const InnerLoop& a, const InnerLoop& b) { return a.fmas < b.fmas; });
    EXPECT_GT(whole.fmas, 4) << "draw " << i;
    EXPECT_EQ(whole.stack_places, 0) << "draw " << i << "\n"
                                     << space.TraceText(candidate->point);
  }
  EXPECT_GT(drawn, 8);
}

TEST(AArch64Test, ObjectsAndSharedObjectsAreOfItsMachine) {
  KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(kNeoverse));
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, MakeWorkload("gmm:8,24,12"));
  KILN_ASSERT_OK_AND_ASSIGN(const CompiledKernel kernel,
                            CompileKernel(module.functions[0], target));
  const std::string folder = ::testing::TempDir();
  const std::string object = folder + "/kernel.o", shared = folder + "/k.so";
  KILN_ASSERT_OK(WriteFileAtomically(object, kernel.object));
  KILN_ASSERT_OK(LinkSharedObject({object}, shared));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string linked, ReadFile(shared));
  for (const auto& [bytes, type] :
       {std::pair(kernel.object, ET_REL), std::pair(linked, ET_DYN)}) {
    Elf64_Ehdr header;
    ASSERT_GE(bytes.size(), sizeof(header));
    std::memcpy(&header, bytes.data(), sizeof(header));
    EXPECT_EQ(header.e_machine, EM_AARCH64);
    EXPECT_EQ(header.e_type, type);
  }
}

}  // namespace
}  // namespace kiln
