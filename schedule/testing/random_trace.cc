#include "kiln/schedule/testing/random_trace.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/check.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/testing/random_step.h"

namespace kiln {
namespace {

bool IsRefusal(const absl::Status& status) {
  return (status.code() == absl::StatusCode::kInvalidArgument ||
          status.code() == absl::StatusCode::kFailedPrecondition ||
          status.code() == absl::StatusCode::kNotFound) &&
         !status.message().empty();
}

std::vector<StepRow> MakeTable() {
  std::vector<StepRow> rows = LoopSteps();
  for (StepRow& row : BlockSteps()) rows.push_back(row);
  for (StepRow& row : RewriteSteps()) rows.push_back(row);
  for (const InstructionKind& kind : InstructionTable()) {
    const bool known =
        std::any_of(rows.begin(), rows.end(),
                    [&](const StepRow& row) { return row.name == kind.name; });
    KILN_CHECK(known) << "random_step has no row for " << kind.name;
  }
  return rows;
}

const StepRow& DrawRow(StepContext& c) {
  static const auto* table = new std::vector<StepRow>(MakeTable());
  int total = 0;
  for (const StepRow& row : *table) total += row.weight;
  int64_t at = c.Between(0, total - 1);
  for (const StepRow& row : *table) {
    if ((at -= row.weight) < 0) return row;
  }
  return table->back();
}

// Handles to begin with: most blocks, and their loops.
void LookAround(StepContext& c) {
  std::vector<std::string> names;
  ForEachBlockDeep(c.function().body, [&](const BlockRealizeNode& realize) {
    names.push_back(realize.block->name);
  });
  for (const std::string& name : names) {
    if (names.size() > 2 && c.Chance(15)) continue;
    const auto block = c.Named(name);
    if (block && name != "root") c.Loops(*block);
  }
}

}  // namespace

void Merge(const StepCounts& from, StepCounts* to) {
  for (const auto& [name, count] : from) {
    (*to)[name].accepted += count.accepted;
    (*to)[name].refused += count.refused;
  }
}

std::string ToTable(const StepCounts& counts) {
  std::string text =
      absl::StrFormat("%-26s %10s %10s\n", "primitive", "accepted", "refused");
  for (const auto& [name, count] : counts) {
    absl::StrAppendFormat(&text, "%-26s %10d %10d\n", name, count.accepted,
                          count.refused);
  }
  return text;
}

absl::StatusOr<Schedule> RandomSchedule(const Function& f, uint64_t seed,
                                        StepCounts* counts,
                                        RandomTraceOptions options) {
  Module module;
  module.functions.push_back(f);
  Schedule schedule(std::move(module), {.seed = seed});
  Random random(seed, /*stream=*/17);
  if (random.Between(1, 100) > options.bind_percent) options.bind_percent = 0;
  StepContext c(&schedule, &random, counts, options);
  LookAround(c);
  const int64_t steps = c.Between(1, options.max_steps);
  for (int64_t i = 0; i < steps && c.status().ok(); ++i) {
    const StepRow& row = DrawRow(c);
    std::optional<std::vector<Arg>> args = row.make(c);
    if (args) c.Apply(row.name, *std::move(args));
  }
  if (!c.status().ok()) return c.status();
  return schedule;
}

std::optional<std::vector<Rv>> StepContext::Apply(std::string_view name,
                                                  std::vector<Arg> args,
                                                  Decision decision) {
  absl::StatusOr<std::vector<Rv>> result =
      schedule_->Apply(name, std::move(args), std::move(decision));
  StepCount& count = (*counts_)[std::string(name)];
  ++(result.ok() ? count.accepted : count.refused);
  if (result.ok()) return *std::move(result);
  if (!IsRefusal(result.status())) status_ = result.status();
  return std::nullopt;
}

std::vector<Rv> StepContext::Handles(RvKind kind) const {
  std::set<int64_t> live;
  Visit(function().body, [&](const Stmt& s) {
    if (const auto* loop = s.As<ForNode>(); loop && kind == RvKind::kLoop) {
      live.insert(loop->id);
    }
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize && kind == RvKind::kBlock) live.insert(realize->block->id);
    return true;
  });
  std::vector<Rv> handles;
  const auto& rvs = schedule_->trace().rvs;
  for (int i = 0; i < static_cast<int>(rvs.size()); ++i) {
    const Rv rv{rvs[i], i};
    if (rvs[i] == kind && live.count(schedule_->Value(rv))) {
      handles.push_back(rv);
    }
  }
  return handles;
}

std::optional<Rv> StepContext::HandleOf(RvKind kind, int64_t id) const {
  const auto& rvs = schedule_->trace().rvs;
  for (int i = static_cast<int>(rvs.size()); i-- > 0;) {
    const Rv rv{rvs[i], i};
    if (rvs[i] == kind && schedule_->Value(rv) == id) return rv;
  }
  return std::nullopt;
}

std::optional<Rv> StepContext::Named(const std::string& name) {
  const std::vector<BlockId> ids = BlocksNamed(function(), name);
  for (BlockId id : ids) {
    if (auto known = HandleOf(RvKind::kBlock, id)) return known;
  }
  auto made = Apply("get_block", {name});
  if (!made) return std::nullopt;
  return (*made)[0];
}

std::optional<Rv> StepContext::Stale(RvKind kind) {
  const auto& rvs = schedule_->trace().rvs;
  std::vector<Rv> gone;
  for (int i = 0; i < static_cast<int>(rvs.size()); ++i) {
    const Rv rv{rvs[i], i};
    if (rvs[i] != kind) continue;
    if (kind == RvKind::kLoop ? !FindLoopNode(rv) : !Find(rv)) {
      gone.push_back(rv);
    }
  }
  if (gone.empty()) return std::nullopt;
  return OneOf(gone);
}

std::optional<Rv> StepContext::Block() {
  if (Chance(3)) {
    if (const auto stale = Stale(RvKind::kBlock)) return stale;
  }
  std::vector<Rv> handles = Handles(RvKind::kBlock);
  if (handles.empty()) return std::nullopt;
  Rv block = OneOf(handles);
  for (int i = 0; i < 4 && Find(block)->name == "root"; ++i) {
    block = OneOf(handles);
  }
  return block;
}

std::optional<Rv> StepContext::Neighbour(Rv block, bool producer) {
  const BlockNode* node = Find(block);
  if (!node) return std::nullopt;
  std::set<const BufferNode*> wanted;
  for (const BufferRegion& r : producer ? node->reads : node->writes) {
    wanted.insert(r.buffer.get());
  }
  std::vector<std::string> names;
  ForEachBlockDeep(function().body, [&](const BlockRealizeNode& realize) {
    const BlockNode& other = *realize.block;
    const auto& regions = producer ? other.writes : other.reads;
    if (&other != node &&
        std::any_of(regions.begin(), regions.end(), [&](const auto& r) {
          return wanted.count(r.buffer.get()) > 0;
        })) {
      names.push_back(other.name);
    }
  });
  if (names.empty()) return std::nullopt;
  return Named(OneOf(names));
}

std::vector<Rv> StepContext::Loops(Rv block) {
  const auto path = FindBlock(function(), schedule_->Value(block));
  if (!path) return {};
  std::vector<Rv> loops;
  for (LoopId id : LoopIdsAbove(*path)) {
    const auto known = HandleOf(RvKind::kLoop, id);
    if (!known) return Apply("get_loops", {block}).value_or(loops);
    loops.push_back(*known);
  }
  return loops;
}

std::optional<Rv> StepContext::Loop() {
  if (Chance(3)) {
    if (const auto stale = Stale(RvKind::kLoop)) return stale;
  }
  const auto block = Block();
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = Loops(*block);
  if (loops.empty()) return std::nullopt;
  return OneOf(loops);
}

const BlockNode* StepContext::Find(Rv block) const {
  const BlockRealizeNode* realize = FindRealize(block);
  return realize ? realize->block.get() : nullptr;
}

const BlockRealizeNode* StepContext::FindRealize(Rv block) const {
  const auto path = FindBlock(function(), schedule_->Value(block));
  return path ? path->realize() : nullptr;
}

const ForNode* StepContext::FindLoopNode(Rv loop) const {
  const auto path = FindLoop(function(), schedule_->Value(loop));
  return path ? path->loop() : nullptr;
}

int64_t StepContext::Extent(Rv loop) const {
  const ForNode* node = FindLoopNode(loop);
  const int64_t* extent = node ? AsInt(node->extent) : nullptr;
  return extent ? *extent : 1;
}

}  // namespace kiln
