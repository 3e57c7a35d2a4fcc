// Steps that look something up, which leave the program as it is, and those
// that sample. A sampling step draws where its decision is empty, and else
// follows the decision, which may come from a file, after checking it:
//
//   v0, v1 = sch.sample_perfect_tile(loop=l0, n=2, decision=[4, 16])
//
// Rows and their functions are as in loop_rows.cc.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/primitive/lookup.h"
#include "kiln/schedule/primitive/sample.h"
#include "kiln/schedule/trace/table.h"
#include "kiln/schedule/trace/tuple.h"

namespace kiln {
namespace {

absl::Status Take(ApplyContext& c, absl::StatusOr<std::vector<int64_t>> ids) {
  KILN_RETURN_IF_ERROR(ids.status());
  c.Output(*ids);
  return absl::OkStatus();
}

absl::Status ApplyGetBlock(ApplyContext& c) {
  KILN_RETURN_IF_ERROR(c.UseFunction(c.string(1)));
  KILN_ASSIGN_OR_RETURN(const BlockId block,
                        GetBlock(c.function(), c.string(0)));
  c.Output(block);
  return absl::OkStatus();
}

absl::Status ApplyGetLoops(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, GetLoops(c.function(), block));
}

absl::Status ApplyGetChildBlocks(ApplyContext& c) {
  const int64_t id = c.block(0);
  return Take(c, c.is_loop(0) ? GetChildBlocksOfLoop(c.function(), id)
                              : GetChildBlocksOfBlock(c.function(), id));
}

absl::Status ApplyGetProducers(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, GetProducers(c.function(), block));
}

absl::Status ApplyGetConsumers(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, GetConsumers(c.function(), block));
}

absl::Status ApplyGetOutputBlocks(ApplyContext& c) {
  const BlockId block = c.block(0);
  return Take(c, GetOutputBlocks(c.function(), block));
}

absl::Status ApplyPerfectTile(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  KILN_ASSIGN_OR_RETURN(const int64_t n, c.integer(1));
  KILN_ASSIGN_OR_RETURN(const int64_t inner, c.integer(2));
  if (c.decision().empty()) {
    KILN_ASSIGN_OR_RETURN(c.decision(), SamplePerfectTile(c.function(), loop, n,
                                                          inner, &c.random()));
  } else {
    KILN_RETURN_IF_ERROR(
        CheckPerfectTile(c.function(), loop, n, inner, c.decision()));
  }
  c.Output(c.decision());
  return absl::OkStatus();
}

absl::Status ApplyPartitionedTile(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  PartitionedTile tile;
  KILN_ASSIGN_OR_RETURN(tile.n, c.integer(1));
  KILN_ASSIGN_OR_RETURN(tile.partition_pos, c.integer(2));
  KILN_ASSIGN_OR_RETURN(tile.inner_factor, c.integer(3));
  if (c.decision().empty()) {
    KILN_ASSIGN_OR_RETURN(
        c.decision(),
        SamplePartitionedTile(c.function(), loop, tile, &c.random()));
  } else {
    KILN_RETURN_IF_ERROR(
        CheckPartitionedTile(c.function(), loop, tile, c.decision()));
  }
  c.Output(c.decision());
  return absl::OkStatus();
}

absl::Status CheckCandidates(const ApplyContext& c, size_t count,
                             const std::vector<double>& probs) {
  if (count > 0 && count == probs.size()) return absl::OkStatus();
  return BadArgument(c.kind().name,
                     absl::StrCat("there are ", count, " candidates and ",
                                  probs.size(), " probabilities"));
}

absl::Status ApplyCategorical(ApplyContext& c) {
  KILN_ASSIGN_OR_RETURN(const auto candidates, c.integers(0));
  const std::vector<double> probs = c.floats(1);
  KILN_RETURN_IF_ERROR(CheckCandidates(c, candidates.size(), probs));
  if (c.decision().empty()) {
    KILN_ASSIGN_OR_RETURN(const int64_t index,
                          SampleCategorical(probs, &c.random()));
    c.decision() = {index};
  }
  const int64_t index = c.decision()[0];
  if (c.decision().size() != 1 || index < 0 ||
      index >= static_cast<int64_t>(candidates.size())) {
    return BadArgument("sample_categorical",
                       absl::StrCat("decision ", index, " is no index into ",
                                    candidates.size(), " candidates"));
  }
  c.Output(candidates[index]);
  return absl::OkStatus();
}

// The decision is the candidate itself.
absl::Status ApplyTuple(ApplyContext& c) {
  const ArgList& candidates = *c.arg(0).list();
  const std::vector<double> probs = c.floats(1);
  KILN_RETURN_IF_ERROR(CheckCandidates(c, candidates.size(), probs));
  if (c.decision().empty()) {
    KILN_ASSIGN_OR_RETURN(const int64_t index,
                          SampleCategorical(probs, &c.random()));
    c.decision() = ValuesOfTuple(candidates[index]);
  } else if (!IndexOfTuple(candidates, c.decision())) {
    return BadArgument(
        "sample_tuple",
        absl::StrCat("decision [", absl::StrJoin(c.decision(), ", "),
                     "] is none of the candidates"));
  }
  c.Output(c.decision());
  return absl::OkStatus();
}

absl::Status ApplyLocation(ApplyContext& c) {
  const BlockId block = c.block(0);
  if (c.decision().empty()) {
    KILN_ASSIGN_OR_RETURN(const auto choices,
                          ComputeLocations(c.function(), block));
    c.decision() = {choices[c.random().Below(choices.size())]};
  }
  KILN_ASSIGN_OR_RETURN(const LoopId loop,
                        ComputeLocation(c.function(), block, c.decision()[0]));
  c.Output(loop);
  return absl::OkStatus();
}

InstructionKind LookupRow(std::string_view name, std::string_view alias,
                          ParamInfo param, absl::Status (*apply)(ApplyContext&),
                          RvKind kind = RvKind::kBlock) {
  std::vector<std::string_view> aliases;
  if (!alias.empty()) aliases.push_back(alias);
  return {name, aliases, {param}, Outputs::kList, kind, true, false, apply};
}

InstructionKind SampleRow(std::string_view name, std::vector<ParamInfo> params,
                          Outputs outputs, RvKind output_kind,
                          absl::Status (*apply)(ApplyContext&)) {
  return {name, {}, std::move(params), outputs, output_kind, true, true, apply};
}

}  // namespace

std::vector<InstructionKind> LookupRows() {
  const ParamInfo block = {"block", ParamKind::kBlock};
  const ParamInfo scope = {"scope_block", ParamKind::kBlock};
  const ParamInfo parent = {"block_or_loop", ParamKind::kBlockOrLoop,
                            std::nullopt, true};
  return {
      {"get_block",
       {"get_sblock"},
       {{"name", ParamKind::kString},
        {"func_name", ParamKind::kString, Arg("main")}},
       Outputs::kOne,
       RvKind::kBlock,
       true,
       false,
       ApplyGetBlock},
      LookupRow("get_loops", "", block, ApplyGetLoops, RvKind::kLoop),
      LookupRow("get_child_blocks", "get_child_sblocks", parent,
                ApplyGetChildBlocks),
      LookupRow("get_producers", "", block, ApplyGetProducers),
      LookupRow("get_consumers", "", block, ApplyGetConsumers),
      LookupRow("get_output_blocks", "get_output_sblocks", scope,
                ApplyGetOutputBlocks),
  };
}

std::vector<InstructionKind> SampleRows() {
  const ParamInfo loop = {"loop", ParamKind::kLoop};
  const ParamInfo n = {"n", ParamKind::kInt};
  return {
      SampleRow("sample_perfect_tile",
                {loop, n, {"max_innermost_factor", ParamKind::kInt, Arg(16)}},
                Outputs::kList, RvKind::kInt, ApplyPerfectTile),
      SampleRow("sample_partitioned_tile",
                {loop,
                 n,
                 {"partition_pos", ParamKind::kInt, Arg(0)},
                 {"innerpart_factor", ParamKind::kInt, Arg(1)}},
                Outputs::kList, RvKind::kInt, ApplyPartitionedTile),
      SampleRow(
          "sample_categorical",
          {{"candidates", ParamKind::kInts}, {"probs", ParamKind::kFloats}},
          Outputs::kOne, RvKind::kInt, ApplyCategorical),
      SampleRow(
          "sample_tuple",
          {{"candidates", ParamKind::kTuples}, {"probs", ParamKind::kFloats}},
          Outputs::kList, RvKind::kInt, ApplyTuple),
      SampleRow("sample_compute_location", {{"block", ParamKind::kBlock}},
                Outputs::kOne, RvKind::kLoop, ApplyLocation),
  };
}

}  // namespace kiln
