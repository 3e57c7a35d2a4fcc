#include "kiln/schedule/rewrite/storage_scope.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

constexpr std::string_view kScopes[] = {
    "global",
    "shared",
    "shared.dyn",
    "local",
    "warp",
    "wmma.matrix_a",
    "wmma.matrix_b",
    "wmma.accumulator",
    "m16n8k8.matrixA",
    "m16n8k8.matrixB",
    "m16n8k8.matrixC",
    "amx.tmm",
    "texture",
    "metal.simdgroup",
};

}  // namespace

absl::Status CheckStorageScope(std::string_view scope,
                               std::string_view primitive) {
  const bool is_plain = std::find(std::begin(kScopes), std::end(kScopes),
                                  scope) != std::end(kScopes);
  constexpr std::string_view kTagged = "global.";
  const bool is_tagged = scope.size() > kTagged.size() &&
                         scope.substr(0, kTagged.size()) == kTagged;
  if (is_plain || is_tagged) return absl::OkStatus();
  return BadArgument(
      primitive,
      absl::StrCat("no memory is called \"", std::string(scope), "\""),
      "use \"global\", \"shared\" or \"local\"");
}

}  // namespace kiln
