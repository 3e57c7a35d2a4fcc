#include "kiln/tools/rivals/op_case.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln::bench {
namespace {

std::vector<int64_t> ExtentsOf(const Buffer& buffer) {
  std::vector<int64_t> extents;
  for (const Expr& extent : buffer->shape) extents.push_back(*AsInt(extent));
  return extents;
}

// Spatial dimensions ahead of the channels in the names of workloads.
int RankOf(const std::string& workload) {
  if (workload == "c1d") return 1;
  if (workload == "c3d") return 3;
  for (const char* flat : {"c2d", "dep", "grp", "dil", "t2d", "cbr"}) {
    if (workload == flat) return 2;
  }
  return 0;
}

void SetOutput(ConvShape* c) {
  for (int64_t in : c->in) {
    const int64_t reach = c->dilation * (c->kernel - 1);
    c->out.push_back(c->transposed
                         ? (in - 1) * c->stride - 2 * c->pad + c->kernel
                         : (in + 2 * c->pad - reach - 1) / c->stride + 1);
  }
}

}  // namespace

std::string OpCase::shape() const { return absl::StrJoin(dims, ","); }

std::string OpCase::spec() const {
  return absl::StrCat(workload, ":", shape());
}

absl::StatusOr<OpCase> MakeOpCase(const std::string& workload,
                                  const std::vector<int64_t>& dims,
                                  int threads) {
  OpCase op{workload, dims, threads, {}, {}};
  KILN_ASSIGN_OR_RETURN(const Module module, MakeWorkload(op.spec()));
  KILN_ASSIGN_OR_RETURN(op.work, CountWork(module.functions[0]));
  uint64_t seed = 0;
  for (const Param& param : module.functions[0].params) {
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Zeros(ExtentsOf(param.buffer),
                                                        DType::Float(32)));
    FillRandom(array, ++seed);
    op.args.push_back(std::move(array));
  }
  return op;
}

bool ConvShape::is_product() const {
  return kernel == 1 && stride == 1 && pad == 0 && groups == 1 && !transposed;
}

std::optional<ConvShape> ConvShapeOf(const OpCase& op) {
  const int rank = RankOf(op.workload);
  if (rank == 0) return std::nullopt;
  ConvShape c;
  c.in.assign(op.dims.begin(), op.dims.begin() + rank);
  const int64_t* next = op.dims.data() + rank;
  c.ci = *next++;
  c.co = op.workload == "dep" ? c.ci : *next++;
  c.kernel = *next++;
  c.stride = *next++;
  c.pad = *next++;
  if (op.workload == "dep") c.groups = c.ci;
  if (op.workload == "grp") c.groups = *next;
  if (op.workload == "dil") c.dilation = *next;
  c.transposed = op.workload == "t2d";
  SetOutput(&c);
  return c;
}

int64_t ReductionLength(const OpCase& op) {
  if (std::optional<ConvShape> c = ConvShapeOf(op)) {
    int64_t taps = 1;
    for (int i = 0; i < c->rank(); ++i) taps *= c->kernel;
    return taps * c->ci / c->groups;
  }
  if (op.workload == "cap") return 4 * op.dims[2] * op.dims[4] * op.dims[4];
  if (op.workload == "nrm") return op.dims[0] * op.dims[1];
  if (op.workload == "avg") return op.dims[3] * op.dims[3];
  return op.dims.back();
}

Roofline RooflineOf(const OpCase& op, const Machine& machine, double gflops) {
  const double written = op.work.bytes_written.value;
  const CallWork work = {op.work.needed_flop.value, op.work.bytes() - written,
                         written};
  return kiln::RooflineOf(work, op.threads, machine, gflops);
}

}  // namespace kiln::bench
