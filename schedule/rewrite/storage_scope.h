// The kinds of memory that buffers may live in.
#ifndef KILN_SCHEDULE_REWRITE_STORAGE_SCOPE_H_
#define KILN_SCHEDULE_REWRITE_STORAGE_SCOPE_H_

#include <string_view>

#include "absl/status/status.h"

namespace kiln {

// OK for "global", "shared", "shared.dyn", "local", "warp", the fragments of
// tensor cores and the like, also with a tag after a dot where memory is
// special ("global.vtcm"). Else BadArgument in the name of `primitive`.
absl::Status CheckStorageScope(std::string_view scope,
                               std::string_view primitive);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_STORAGE_SCOPE_H_
