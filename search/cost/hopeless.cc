#include "kiln/search/cost/hopeless.h"

#include "absl/strings/str_format.h"

namespace kiln {
namespace {

// Beyond these a program is not worth compiling.
constexpr double kMaxRegisterUse = 3;
constexpr double kMaxInstructions = 10000;

}  // namespace

std::string WhyHopeless(const TimeEstimate& estimate,
                        const std::vector<double>& instructions,
                        const Machine& machine) {
  for (size_t i = 0; i < estimate.stores.size(); ++i) {
    const StoreEstimate& store = estimate.stores[i];
    if (store.seconds < 0.5 * estimate.seconds) continue;
    if (store.registers > kMaxRegisterUse * machine.vectors.count) {
      return absl::StrFormat(
          "the register tile of store %d asks for %.0f vector registers of %d",
          i + 1, store.registers, machine.vectors.count);
    }
    if (instructions[i] > kMaxInstructions) {
      return absl::StrFormat(
          "the unrolled body of store %d has about %.0f instructions", i + 1,
          instructions[i]);
    }
  }
  return "";
}

bool IsHopeless(const TimeEstimate& estimate, double best_seconds,
                double factor, std::string* why) {
  std::string reason = estimate.hopeless;
  if (reason.empty() && best_seconds > 0 &&
      estimate.seconds > factor * best_seconds) {
    reason = absl::StrFormat(
        "estimated at %.3g us, over %.3g times the best of %.3g us",
        estimate.seconds * 1e6, factor, best_seconds * 1e6);
  }
  if (why) *why = reason;
  return !reason.empty();
}

}  // namespace kiln
