// The version of Kiln.
#ifndef KILN_BASE_VERSION_H_
#define KILN_BASE_VERSION_H_

namespace kiln {

// As MODULE.bazel says it, too.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace kiln

#endif  // KILN_BASE_VERSION_H_
