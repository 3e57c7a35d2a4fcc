// Rivals in a benchmark: libraries and Kiln behind one interface.
#ifndef KILN_TOOLS_RIVALS_CONTENDER_H_
#define KILN_TOOLS_RIVALS_CONTENDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/rivals/op_case.h"

namespace kiln::bench {

enum class Role {
  kLibrary,
  kKiln,      // tuned
  kNormwise,  // tuned, with errors that only normwise bounds hold for
  kUntuned    // Kiln's own as well, made without a measurement
};

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;
  virtual Role role() const { return Role::kLibrary; }
  // Constant operands (the second matrix of a product, the weights of a
  // convolution) are in a layout of its own before the clock starts.
  virtual bool packs_ahead() const { return false; }
  // Does everything that happens once, such as planning or packing weights
  // ahead, and gives the call that is timed; an empty one where the contender
  // does not have the operator. The call sets the thread count of its library
  // first, since contenders take turns. The case outlives the call.
  virtual absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) = 0;
};

// Matrix products, convolutions that are such, the 2-norm.
std::unique_ptr<Contender> OpenBlas();
// The 2-norm as sqrt(sdot), beside snrm2.
std::unique_ptr<Contender> OpenBlasNormByProduct();
// All but capsules. With `pack_ahead`, weights are in oneDNN's own layout
// before the clock starts; without, they are brought there in every call.
std::unique_ptr<Contender> OneDnn(bool pack_ahead);

struct KilnOptions {
  int64_t trials = 64;   // of tuning, for a case that is not known yet
  std::string work_dir;  // with the database of earlier runs
  std::function<bool()> stop;
  Target target;  // what kernels are compiled for
};
struct KilnForm {
  // Where weights are constant: how they lie is part of what is tuned, and they
  // are brought there before the clock starts.
  bool packs_ahead = false;
  // For products of matrices: errors may be normwise (ir/tensor/numerics.h).
  bool normwise = false;
};
// Tunes before it is timed.
std::unique_ptr<Contender> Kiln(const KilnOptions& options, KilnForm form = {});
// The schedule that the analytic model chooses; nothing is measured. `machine`
// is as code for the target sees it.
std::unique_ptr<Contender> KilnByDefault(const Target& target,
                                         const Machine& machine);
// The program as it is written, where `workloads` names it.
std::unique_ptr<Contender> Naive(const std::string& workloads,
                                 const Target& target);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_CONTENDER_H_
