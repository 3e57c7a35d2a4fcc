// The state of a running program, as the interpreter's code nodes see it.
// Internal to ir/interp.
#ifndef KILN_IR_INTERP_MACHINE_H_
#define KILN_IR_INTERP_MACHINE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/ir/interp/options.h"
#include "kiln/ir/type/dtype.h"

namespace kiln::interp_internal {

// Buffers of more dimensions are refused.
inline constexpr size_t kMaxRank = 64;

union Value {
  int64_t i;
  double f;
};

// Bytes that views share: a caller's tensor or an allocation.
struct Storage {
  uint8_t* data = nullptr;
  int64_t size = 0;              // bytes
  std::vector<uint8_t> owned;    // of an allocation
  std::vector<uint8_t> written;  // a flag for each byte; empty: all are
};

// What a buffer stands for while it is in scope. Offsets and strides count
// elements of `dtype`.
struct View {
  std::shared_ptr<Storage> storage;
  DType dtype;
  int64_t bytes = 0;  // of an element
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;
};

// Where in the program a code node stands: the function, loops and blocks
// around it, outermost last. Variables are slots, so that a message can tell
// their values.
struct Place {
  const Place* parent = nullptr;
  std::string block;  // "" for a loop
  std::vector<std::pair<std::string, int>> vars;
};

class ThreadGroup;
struct Frame;

// Writes elements when they are asked for: see element_nest.h.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  // Whether the element of the view in `slot`, which nothing has written yet,
  // has a value now.
  virtual bool Provide(Frame& frame, int slot, const int64_t* indices) = 0;
};

// What all threads of a run share.
struct Run {
  const InterpOptions* options = nullptr;
  int64_t steps_left = 0;
  std::string function;
};

// What one thread sees.
struct Frame {
  Run* run = nullptr;
  ThreadGroup* group = nullptr;     // the block of GPU threads, if in one
  ElementSource* source = nullptr;  // of what is read but not yet written
  bool failed = false;
  absl::Status status;
  std::vector<Value> slots;
  std::vector<View> views;

  // Records the first failure; code nodes then return as soon as they can.
  void Fail(const Place* place, absl::StatusCode code,
            const std::string& message);
  // Takes one step off the budget; false when there is none.
  bool Step(const Place* place) {
    if (--run->steps_left >= 0) return !failed;
    OutOfSteps(place);
    return false;
  }
  void OutOfSteps(const Place* place);
};

// Code of an expression. A vector expression is evaluated lane by lane; a
// scalar one gives the same for every lane. Floats answer Real, others Int.
class ExprCode {
 public:
  virtual ~ExprCode() = default;
  virtual int64_t Int(Frame& frame, int lane) const;
  virtual double Real(Frame& frame, int lane) const;
};
using ExprPtr = std::unique_ptr<ExprCode>;

class StmtCode {
 public:
  virtual ~StmtCode() = default;
  virtual void Run(Frame& frame) const = 0;
};
using StmtPtr = std::unique_ptr<StmtCode>;

// Records why an access is out of bounds.
void FailAccess(Frame& frame, const View& view, const int64_t* indices,
                const std::string& name, int64_t offset, const Place* place);
// The byte address of element `indices` of a view, checked; nullptr after a
// failure. `name` is the buffer's.
inline uint8_t* Address(Frame& frame, const View& view, const int64_t* indices,
                        const std::string& name, const Place* place) {
  // Unsigned, as indices that are out of bounds may wrap it.
  uint64_t sum = static_cast<uint64_t>(view.offset);
  bool inside = !frame.failed;
  for (size_t d = 0; d < view.shape.size(); ++d) {
    inside &= indices[d] >= 0 && indices[d] < view.shape[d];
    sum += static_cast<uint64_t>(indices[d]) *
           static_cast<uint64_t>(view.strides[d]);
  }
  const auto offset = static_cast<int64_t>(sum);
  const auto at = static_cast<int64_t>(sum * view.bytes);
  if (__builtin_expect(
          inside && at >= 0 && at <= view.storage->size - view.bytes, 1)) {
    return view.storage->data + at;
  }
  FailAccess(frame, view, indices, name, offset, place);
  return nullptr;
}

// Whether the `bytes` at `at` of the view's storage have been written.
inline bool IsWritten(const View& view, const uint8_t* at, int64_t bytes) {
  const std::vector<uint8_t>& written = view.storage->written;
  if (written.empty()) return true;
  const uint8_t* flags = written.data() + (at - view.storage->data);
  return std::all_of(flags, flags + bytes, [](uint8_t flag) { return flag; });
}

inline void MarkWritten(const View& view, const uint8_t* at, int64_t bytes) {
  std::vector<uint8_t>& written = view.storage->written;
  if (written.empty()) return;
  std::fill_n(written.data() + (at - view.storage->data), bytes, 1);
}

std::string FormatAccess(const std::string& name, const int64_t* indices,
                         size_t rank);

// Zeroed and unwritten storage of `bytes`.
std::shared_ptr<Storage> MakeStorage(int64_t bytes, bool track_writes);
// The strides of a dense row-major array.
std::vector<int64_t> DenseStrides(const std::vector<int64_t>& shape);
// Product of the extents times `unit`; false when an extent is negative or the
// product passes 2^40.
bool ByteSize(const std::vector<int64_t>& shape, int64_t unit, int64_t* out);

}  // namespace kiln::interp_internal

#endif  // KILN_IR_INTERP_MACHINE_H_
