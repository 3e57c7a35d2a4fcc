// Rivals in a benchmark: libraries and Kiln behind one interface.
#ifndef KILN_TOOLS_RIVALS_CONTENDER_H_
#define KILN_TOOLS_RIVALS_CONTENDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln::bench {

// C[m, n] = A[m, k] * B[k, n], float32, row-major.
struct GemmShape {
  int64_t m, n, k;
  double flop() const { return 2.0 * m * n * k; }
  std::string ToString() const;
};

// One multiplication on given data, and how many threads it may use.
struct GemmCase {
  GemmShape shape;
  int threads = 1;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;
  // Not Kiln.
  virtual bool is_library() const { return true; }
  // B is in a layout of its own before the clock starts.
  virtual bool packs_ahead() const { return false; }
  // Does everything that happens once, such as planning or packing weights
  // ahead, and gives the call that is timed. The call sets the thread count
  // of its library first, since contenders take turns.
  virtual absl::StatusOr<std::function<void()>> Prepare(
      const GemmCase& gemm) = 0;
};

std::unique_ptr<Contender> OpenBlas();
// With `pack_ahead`, B is in oneDNN's own layout before the clock starts.
std::unique_ptr<Contender> OneDnn(bool pack_ahead);

struct KilnOptions {
  int64_t trials = 64;   // of tuning, for a shape that is not known yet
  std::string work_dir;  // with the database of earlier runs
  std::function<bool()> stop;
};
// Tunes before it is timed. With `pack_ahead`, B is in panels of 48 columns
// before the clock starts.
std::unique_ptr<Contender> Kiln(const KilnOptions& options, bool pack_ahead);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_CONTENDER_H_
