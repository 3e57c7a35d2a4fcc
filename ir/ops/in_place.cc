#include "kiln/ir/ops/in_place.h"

#include "absl/status/status.h"

namespace kiln {

absl::StatusOr<std::vector<int64_t>> InPlaceIndices(const graph::CallNode& call,
                                                    size_t num_args) {
  std::vector<int64_t> indices;
  const auto it = call.attrs.find("inplace_indices");
  const AttrList* list = it == call.attrs.end() ? nullptr : it->second.list();
  for (const Attr& attr : list ? *list : AttrList()) {
    const int64_t* index = attr.expr() ? AsInt(*attr.expr()) : nullptr;
    if (!index) {
      return absl::InvalidArgumentError("inplace_indices have to be integers");
    }
    if (*index >= static_cast<int64_t>(num_args)) {
      return absl::InvalidArgumentError(
          "inplace_indices name an argument that is not there");
    }
    indices.push_back(*index);
  }
  if (indices.size() == call.infos.size()) return indices;
  return absl::InvalidArgumentError(
      "as many inplace_indices as outputs are needed");
}

}  // namespace kiln
