// The rows behind workloads.h. Internal to ir/te.
#ifndef KILN_IR_TE_WORKLOAD_TABLE_H_
#define KILN_IR_TE_WORKLOAD_TABLE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "kiln/ir/te/ops.h"
#include "kiln/ir/te/workloads.h"

namespace kiln {

struct WorkloadRow {
  WorkloadInfo info;
  // Positions of dimensions that may be 0 (the padding), as a bit set.
  uint32_t may_be_zero;
  std::function<std::vector<te::Tensor>(const te::Dims&)> make;
};

constexpr uint32_t Bit(int position) { return uint32_t{1} << position; }

std::vector<WorkloadRow> LayerRows();

}  // namespace kiln

#endif  // KILN_IR_TE_WORKLOAD_TABLE_H_
