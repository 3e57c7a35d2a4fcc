// A compiled kernel as a C program sees it: functions with typed parameters
// over the two lists of kernel_abi.h.
#ifndef KILN_TOOLS_C_EXPORT_C_KERNEL_H_
#define KILN_TOOLS_C_EXPORT_C_KERNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/codegen/guard/input_ranges.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/access/argument_use.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/search/measure/builder.h"

namespace kiln {

// A buffer, a scalar or a symbolic extent.
struct CParam {
  std::string name;    // a C and C++ identifier, different from all others
  std::string source;  // as the function calls it
  std::string type;    // "float"; of a buffer that of its elements
  DType dtype;
  bool is_buffer = false;
  int64_t alignment = 64;  // of a buffer, in bytes
  bool is_extent = false;  // a scalar that shapes tell
  // "128", the name of a scalar, or an expression of these in C.
  std::vector<std::string> extents;
  std::vector<std::string> shape;  // the same as the program spells it
  // Which values keep what they index in bounds; none: any.
  std::optional<ValueRange> range;

  // The number of elements, and of their bytes, as expressions of type size_t.
  std::string Count() const;
  std::string Bytes() const;
};

// One entry of an object. Numbers are positions among CKernel::params.
struct CFunction {
  std::string symbol;              // in the object
  std::string name;                // the symbol, as an identifier
  std::vector<int> params;         // of the typed function, in order
  std::vector<ArgumentUse> uses;   // one for each of these
  std::vector<int> data, scalars;  // as kernel_abi.h wants them
};

struct CKernel {
  std::string name;  // of the function
  std::string target;
  // Of the whole function in its order, then symbolic extents, then what is
  // prepared.
  std::vector<CParam> params;
  CFunction main;
  std::optional<CFunction> prepare;  // constant arguments are laid out ahead
  std::vector<std::string> needs;    // symbols that the objects leave undefined
};

// The extent that the example gives to every symbolic dimension.
inline constexpr int64_t kExampleExtent = 16;

// `source` is the function before it was scheduled, `built` what became of it.
// The error is one of an object that cannot be read.
absl::StatusOr<CKernel> DescribeForC(const Function& source,
                                     const BuildResult& built,
                                     const Target& target);

// `wanted` as an identifier that is no keyword of C or C++, none of a header's
// names and none of `taken`.
std::string CIdentifier(std::string_view wanted,
                        const std::vector<std::string>& taken);

}  // namespace kiln

#endif  // KILN_TOOLS_C_EXPORT_C_KERNEL_H_
