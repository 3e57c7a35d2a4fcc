#include "kiln/tests/benchmark/matmul_space.h"

#include <utility>

#include "kiln/base/check.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/keep.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

constexpr size_t kPoints = 64;

// A register tile of rows x 16-wide vectors, Y packed into panels of 16
// columns, blocks of rows in parallel; all tiles exact.
constexpr char kText[] = R"(
def space(sch):
    z = sch.get_block("Z", "main")
    b, i, j, k = sch.get_loops(z)
    j0, lane = sch.split(j, [None, 16])
    i_outer, i_block, row = sch.split(i, sch.sample_perfect_tile(i, n=3, max_innermost_factor=14))
    j_outer, j_block, vector = sch.split(j0, sch.sample_perfect_tile(j0, n=3, max_innermost_factor=4))
    k0, k1 = sch.split(k, [None, sch.sample_categorical([1, 2, 4], [0.34, 0.33, 0.33])])
    sch.reorder(b, i_outer, j_outer, i_block, j_block, k0, k1, row, vector, lane)
    packed = sch.cache_read(z, 1, "global")
    sch.transform_layout(packed, ("write", 0), lambda b, k, j: (b, j // 16, k, j % 16))
    acc = sch.cache_write(z, 0, "local")
    sch.reverse_compute_at(acc, j_block, preserve_unit_loops=True)
    sch.parallel(sch.fuse(b, i_outer, j_outer))
    sch.vectorize(lane)
    sch.unroll(row)
    sch.unroll(vector)
    sch.unroll(k1)
    f, ib, jb, a0, a1, a2 = sch.get_loops(acc)
    a_vector, a_lane = sch.split(a2, [None, 16])
    sch.vectorize(a_lane)
    sch.unroll(a1)
    sch.unroll(a_vector)
    pb, pk, pj = sch.get_loops(packed)
    panel, p_lane = sch.split(pj, [None, 16])
    sch.reorder(pb, panel, pk, p_lane)
    sch.parallel(sch.fuse(pb, panel))
    sch.vectorize(p_lane)
    sch.decompose_reduction(z, k0)
)";

}  // namespace

python::Source MatmulSpaceSource() {
  return python::Source("matmul_space.py", kText);
}

MatmulSpace MakeMatmulSpace() {
  auto module = MakeWorkload("gmm:1,512,512,512");
  KILN_CHECK(module.ok()) << module.status().ToString();
  Schedule schedule(*module, {.seed = 1});
  const absl::Status status = RunScript(MatmulSpaceSource(), &schedule);
  KILN_CHECK(status.ok()) << status.ToString();
  for (const Function& f : module->functions) KeepForever(f);
  MatmulSpace space{*module,
                    schedule.trace(),
                    OpenDecisions(schedule.trace()),
                    State(*module),
                    {}};
  for (uint64_t seed = 0; space.points.size() < kPoints; ++seed) {
    State state = space.start;
    Decisions made;
    if (Replay(space.trace, 0, space.trace.instructions.size(), space.open,
               seed, &state, &made)
            .ok()) {
      space.points.push_back(std::move(made));
    }
  }
  return space;
}

Function ProgramAt(const MatmulSpace& space, const Decisions& point) {
  State state = space.start;
  const absl::Status status =
      Replay(space.trace, 0, space.trace.instructions.size(), point, 0, &state);
  KILN_CHECK(status.ok()) << status.ToString();
  return *state.functions[0];
}

}  // namespace kiln
