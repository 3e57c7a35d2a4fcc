// Random calls whose shapes have to be made to fit: reshapes, broadcasts,
// convolutions and products with parameters of their own.
#ifndef KILN_TESTS_GRAPH_FUZZ_SHAPE_CALLS_H_
#define KILN_TESTS_GRAPH_FUZZ_SHAPE_CALLS_H_

#include <cstdint>
#include <optional>

#include "kiln/tests/graph_fuzz/calls.h"
#include "kiln/tests/graph_fuzz/scene.h"

namespace kiln {

// What a symbolic dimension is at most.
constexpr int64_t kMostExtent = 5;
int64_t MostOf(const Expr& extent);
int64_t MostElements(const FuzzValue& value);

std::optional<FuzzCall> DrawShapeCall(Scene& scene);

}  // namespace kiln

#endif  // KILN_TESTS_GRAPH_FUZZ_SHAPE_CALLS_H_
