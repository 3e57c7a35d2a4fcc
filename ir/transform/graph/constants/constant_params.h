// Which arguments of tensor functions are constants wherever they are called.
#ifndef KILN_IR_TRANSFORM_GRAPH_CONSTANTS_CONSTANT_PARAMS_H_
#define KILN_IR_TRANSFORM_GRAPH_CONSTANTS_CONSTANT_PARAMS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// By the names of functions that are called by R.call_tir and used in no other
// way: the positions, from 0 on, where every call gives a constant whose bytes
// are known.
std::map<std::string, std::vector<int>> ConstantParams(const Module& module);

// What of a third-level cache of the day one program can count on.
inline constexpr int64_t kCachedBytes = 8 << 20;

// The module whose tensor functions say that such arguments, where they are
// matrices at least, may be laid out ahead (ir/tensor/layout_free.h). What a
// function says already stays. Where the constants of the module are larger
// than caches of `cached_bytes`, functions with such arguments say that these
// are cold (kColdConstants).
absl::StatusOr<Module> MarkConstantParams(const Module& module,
                                          int64_t cached_bytes = kCachedBytes);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_CONSTANTS_CONSTANT_PARAMS_H_
