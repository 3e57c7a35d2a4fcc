#include "kiln/ir/interp/machine.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"

namespace kiln::interp_internal {
namespace {

void AppendVars(const Frame& frame, const Place& place, std::string* out) {
  for (const auto& [name, slot] : place.vars) {
    absl::StrAppend(out, out->empty() ? "" : ", ", name, " = ",
                    frame.slots[slot].i);
  }
}

// `main: block "C" (v_i = 1, v_j = 2)`, or `main: (i = 1)` outside of blocks.
std::string Describe(const Frame& frame, const Place* place) {
  std::string vars;
  std::vector<const Place*> loops;
  for (; place && place->block.empty(); place = place->parent) {
    loops.push_back(place);
  }
  if (place) AppendVars(frame, *place, &vars);
  std::reverse(loops.begin(), loops.end());
  for (const Place* loop : loops) AppendVars(frame, *loop, &vars);
  std::string text = absl::StrCat(frame.run->function, ": ");
  if (place) absl::StrAppend(&text, "block \"", place->block, "\" ");
  if (!vars.empty()) absl::StrAppend(&text, "(", vars, ") ");
  if (text.back() == ' ') text.pop_back();
  if (text.back() == ':') text.pop_back();
  return text;
}

}  // namespace

void Frame::Fail(const Place* place, absl::StatusCode code,
                 const std::string& message) {
  if (failed) return;
  failed = true;
  status =
      absl::Status(code, absl::StrCat(Describe(*this, place), ": ", message));
}

void Frame::OutOfSteps(const Place* place) {
  Fail(place, absl::StatusCode::kResourceExhausted,
       absl::StrCat("the budget of ", run->options->max_steps,
                    " steps is used up; a smaller shape or a larger "
                    "max_steps may help"));
}

int64_t ExprCode::Int(Frame&, int) const {
  KILN_CHECK(false) << "not an integer";
  return 0;
}

double ExprCode::Real(Frame&, int) const {
  KILN_CHECK(false) << "not a float";
  return 0;
}

std::string FormatAccess(const std::string& name, const int64_t* indices,
                         size_t rank) {
  std::string text = absl::StrCat(name, "[");
  for (size_t d = 0; d < rank; ++d) {
    absl::StrAppend(&text, d ? ", " : "", indices[d]);
  }
  return text + "]";
}

namespace {

void FailBounds(Frame& frame, const View& view, const int64_t* indices,
                const std::string& name, size_t d, const Place* place) {
  frame.Fail(place, absl::StatusCode::kOutOfRange,
             absl::StrCat(FormatAccess(name, indices, view.shape.size()),
                          " is out of bounds: dimension ", d, " is [0, ",
                          view.shape[d], ")"));
}

}  // namespace

void FailAccess(Frame& frame, const View& view, const int64_t* indices,
                const std::string& name, int64_t offset, const Place* place) {
  for (size_t d = 0; d < view.shape.size(); ++d) {
    if (indices[d] < 0 || indices[d] >= view.shape[d]) {
      return FailBounds(frame, view, indices, name, d, place);
    }
  }
  frame.Fail(place, absl::StatusCode::kOutOfRange,
             absl::StrCat(FormatAccess(name, indices, view.shape.size()),
                          " lies outside the storage: element ", offset, " of ",
                          view.storage->size / view.bytes));
}

std::shared_ptr<Storage> MakeStorage(int64_t bytes, bool track_writes) {
  auto storage = std::make_shared<Storage>();
  storage->owned.resize(static_cast<size_t>(bytes));
  if (track_writes) storage->written.resize(static_cast<size_t>(bytes));
  storage->data = storage->owned.data();
  storage->size = bytes;
  return storage;
}

std::vector<int64_t> DenseStrides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    // Of an array without elements they may be anything, but are defined.
    if (__builtin_mul_overflow(stride, shape[d], &stride)) stride = 0;
  }
  return strides;
}

bool ByteSize(const std::vector<int64_t>& shape, int64_t unit, int64_t* out) {
  constexpr int64_t kLimit = int64_t{1} << 40;
  int64_t size = unit;
  for (int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(size, extent, &size) ||
        size > kLimit) {
      return false;
    }
  }
  *out = size;
  return true;
}

}  // namespace kiln::interp_internal
