#include "kiln/schedule/analysis/refusal.h"

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

std::string Message(std::string_view primitive, std::string_view reason,
                    std::string_view way_out) {
  std::string text(primitive);
  text.append(": ").append(reason);
  if (!way_out.empty()) text.append("; ").append(way_out);
  return text;
}

}  // namespace

absl::Status Refusal(std::string_view primitive, std::string_view reason,
                     std::string_view way_out) {
  return absl::FailedPreconditionError(Message(primitive, reason, way_out));
}

absl::Status BadArgument(std::string_view primitive, std::string_view reason,
                         std::string_view way_out) {
  return absl::InvalidArgumentError(Message(primitive, reason, way_out));
}

std::string Describe(const ForNode& loop) {
  std::string text = "loop `" + loop.var.name() + "`";
  if (const int64_t* extent = AsInt(loop.extent)) {
    text += " of extent " + std::to_string(*extent);
  }
  return text;
}

std::string Describe(const BlockNode& block) {
  return "block `" + block.name + "`";
}

}  // namespace kiln
