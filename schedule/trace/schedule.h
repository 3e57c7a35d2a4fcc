// A schedule under construction: a module, and the trace of what was done.
//
//   Schedule sch(module, {.seed = 7});
//   KILN_ASSIGN_OR_RETURN(Rv c, sch.GetBlock("C"));
//   KILN_ASSIGN_OR_RETURN(std::vector<Rv> ijk, sch.GetLoops(c));
//   KILN_ASSIGN_OR_RETURN(std::vector<Rv> t, sch.SamplePerfectTile(ijk[1], 2));
//   KILN_ASSIGN_OR_RETURN(std::vector<Rv> j, sch.Split(ijk[1], {t[0], t[1]}));
//   KILN_RETURN_IF_ERROR(sch.Reorder({ijk[0], j[0], ijk[2], j[1]}));
//   Print(sch.ToModule(), ToText(sch.trace()));
//
// A step that is refused leaves schedule and trace as they were. Copies are
// cheap and independent.
#ifndef KILN_SCHEDULE_TRACE_SCHEDULE_H_
#define KILN_SCHEDULE_TRACE_SCHEDULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

struct ScheduleOptions {
  uint64_t seed = 0;  // of what is sampled
};

class Schedule {
 public:
  explicit Schedule(Module module, ScheduleOptions options = {});

  const Trace& trace() const { return trace_; }
  const State& state() const { return state_; }
  const State& start() const { return start_; }
  const Module& original() const { return *module_; }
  // The module as it stands.
  Module ToModule() const { return state_.ToModule(*module_); }
  // What a sampled integer is.
  int64_t Value(Rv rv) const { return state_.rvs[rv.index].value; }

  // Any instruction by its name in scripts. `args` are in the order of its
  // parameters; those that are left out at the end take their defaults.
  absl::StatusOr<std::vector<Rv>> Apply(std::string_view name,
                                        std::vector<Arg> args,
                                        Decision decision = {});

  absl::StatusOr<Rv> GetBlock(std::string name, std::string func_name = "main");
  absl::StatusOr<std::vector<Rv>> GetLoops(Rv block);
  absl::StatusOr<std::vector<Rv>> GetChildBlocks(Rv block_or_loop);
  absl::StatusOr<std::vector<Rv>> GetProducers(Rv block);
  absl::StatusOr<std::vector<Rv>> GetConsumers(Rv block);
  absl::StatusOr<std::vector<Rv>> GetOutputBlocks(Rv scope_block);

  absl::StatusOr<std::vector<Rv>> SamplePerfectTile(Rv loop, int64_t n,
                                                    int64_t max_innermost = 16,
                                                    Decision decision = {});
  absl::StatusOr<Rv> SampleCategorical(std::vector<int64_t> candidates,
                                       std::vector<double> probs,
                                       Decision decision = {});
  // Numbers that are chosen together: one for each element of the candidates.
  absl::StatusOr<std::vector<Rv>> SampleTuple(
      const std::vector<std::vector<int64_t>>& candidates,
      const std::vector<double>& probs, Decision decision = {});
  absl::StatusOr<Rv> SampleComputeLocation(Rv block, Decision decision = {});

  // A factor is a number, a sampled one, or Arg() for the one to infer.
  absl::StatusOr<std::vector<Rv>> Split(Rv loop, ArgList factors,
                                        bool preserve_unit_iters = true);
  absl::StatusOr<Rv> Fuse(const std::vector<Rv>& loops,
                          bool preserve_unit_iters = true);
  absl::Status Reorder(const std::vector<Rv>& loops);
  absl::StatusOr<Rv> AddUnitLoop(Rv block_or_loop);
  absl::Status Parallel(Rv loop);
  absl::Status Vectorize(Rv loop);
  absl::Status Unroll(Rv loop);
  absl::Status Bind(Rv loop, std::string thread_axis);
  absl::StatusOr<Rv> DecomposeReduction(Rv block, Rv loop);
  absl::StatusOr<Rv> Rfactor(Rv loop, int64_t factor_axis);
  // For all readers where no consumer is named.
  absl::StatusOr<Rv> CacheRead(Rv block, int64_t index, std::string scope,
                               const std::vector<Rv>& consumers = {});
  absl::StatusOr<Rv> CacheWrite(Rv block, int64_t index, std::string scope);
  absl::Status ComputeAt(Rv block, Rv loop, bool preserve_unit_loops = false,
                         int64_t index = -1);
  absl::Status ReverseComputeAt(Rv block, Rv loop,
                                bool preserve_unit_loops = false,
                                int64_t index = -1);
  absl::Status ComputeInline(Rv block);
  absl::Status ReverseComputeInline(Rv block);
  // The layout of the block's written or read buffer number `index`. Where the
  // new one has room for more elements, `pad_value` says what stands there.
  enum class Side : uint8_t { kRead, kWrite };
  absl::Status TransformLayout(Rv block, Side side, int64_t index,
                               const IndexMap& map, Arg pad_value = {});
  absl::Status TransformBlockLayout(Rv block, const IndexMap& map);
  absl::StatusOr<Rv> Reindex(Rv block, Side side, int64_t index);
  absl::Status PadDomain(Rv block, const std::vector<int64_t>& padding);
  absl::Status PadEinsum(Rv block, const std::vector<int64_t>& padding);
  absl::Status OffsetOperand(Rv block, int64_t read_index);
  absl::Status Strassen(Rv block, const std::vector<int64_t>& axes);
  absl::Status SetScope(Rv block, int64_t buffer_index, std::string scope);
  absl::Status HoistCast(Rv block, int64_t buffer_index);
  absl::Status Annotate(Rv block_or_loop, std::string key, Arg value);
  absl::Status Unannotate(Rv block_or_loop, std::string key);
  absl::Status EnterPostproc();

 private:
  absl::StatusOr<Rv> One(std::string_view name, std::vector<Arg> args,
                         Decision decision = {});
  // The status of a refused instruction with the fragment of the program that
  // it names, or a better one where it used what an earlier step has consumed.
  absl::Status Explain(const absl::Status& status,
                       const Instruction& instruction) const;
  absl::Status None(std::string_view name, std::vector<Arg> args);

  std::shared_ptr<const Module> module_;
  State start_, state_;
  Trace trace_;
  uint64_t seed_;
};

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_SCHEDULE_H_
