#include "kiln/tests/end_to_end/every_target.h"

#include <cstddef>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/tools/support/execute.h"

namespace kiln {

absl::Status CheckAgainstInterpreter(const Function& f,
                                     const Function& scheduled,
                                     const Target& target) {
  std::vector<Tensor> expected = RandomInputs(f, 7);
  std::vector<Tensor> actual = expected;
  KILN_RETURN_IF_ERROR(Interpret(f, expected));
  KILN_RETURN_IF_ERROR(RunCompiled(scheduled, actual, target));
  for (size_t i = 0; i < expected.size(); ++i) {
    KILN_RETURN_IF_ERROR(CompareTensors(actual[i], expected[i]));
  }
  return absl::OkStatus();
}

}  // namespace kiln
