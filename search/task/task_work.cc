#include "kiln/search/task/task_work.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/work/work.h"

namespace kiln {

double TaskWork::Gflops(double nanoseconds) const {
  return nanoseconds > 0 ? flop / nanoseconds : 0;
}

double TaskWork::Gbs(double nanoseconds) const {
  return nanoseconds > 0 ? bytes / nanoseconds : 0;
}

TaskWork TaskWorkOf(const Function& f) {
  TaskWork result;
  result.normwise = AllowsNormwise(f);
  const absl::StatusOr<Work> work = CountWork(f);
  if (!work.ok()) return result;
  result.flop = work->needed_flop.value;
  result.flop_as_written = work->flop.value;
  result.bytes = work->bytes();
  result.is_bound = !work->needed_flop.exact || !work->bytes_read.exact ||
                    !work->bytes_written.exact;
  return result;
}

std::string RatesText(const TaskWork& work, double nanoseconds) {
  const char* const bound = work.is_bound ? "at most " : "";
  std::vector<std::string> rates;
  if (work.flop > 0) {
    rates.push_back(
        absl::StrFormat("%s%.2f GFLOP/s", bound, work.Gflops(nanoseconds)));
  }
  if (work.bytes > 0) {
    rates.push_back(
        absl::StrFormat("%s%.2f GB/s", bound, work.Gbs(nanoseconds)));
  }
  return absl::StrJoin(rates, ", ");
}

std::string WorkNotes(const TaskWork& work) {
  std::vector<std::string> notes;
  if (work.normwise) notes.push_back("normwise errors allowed");
  if (work.flop < work.flop_as_written) {
    notes.push_back(absl::StrFormat(
        "%.3g of %.3g MFLOP are counted: the others are with inserted zeros, "
        "which a schedule may skip",
        work.flop * 1e-6, work.flop_as_written * 1e-6));
  }
  return absl::StrJoin(notes, "; ");
}

}  // namespace kiln
