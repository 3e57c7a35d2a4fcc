// What a schedule has come to: the functions, and what each random variable
// stands for. Cheap to copy: a copy is a snapshot to go on from.
#ifndef KILN_SCHEDULE_TRACE_STATE_H_
#define KILN_SCHEDULE_TRACE_STATE_H_

#include <memory>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// A loop id, a block id or an integer; ids belong to a function of the state.
struct RvValue {
  int64_t value = 0;
  int function = 0;
};

struct State {
  std::vector<std::shared_ptr<const Function>> functions;
  std::vector<RvValue> rvs;

  State() = default;
  explicit State(const Module& module) {
    for (const Function& f : module.functions) {
      functions.push_back(std::make_shared<const Function>(f));
    }
  }
  // `module` with its functions replaced by those of the state.
  Module ToModule(Module module) const {
    for (size_t i = 0; i < functions.size(); ++i) {
      module.functions[i] = *functions[i];
    }
    return module;
  }
};

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_STATE_H_
