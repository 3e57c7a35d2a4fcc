// How often one run of a model calls each of its tensor functions.
#ifndef KILN_TOOLS_TUNING_CALL_COUNTS_H_
#define KILN_TOOLS_TUNING_CALL_COUNTS_H_

#include <map>
#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Calls by name, of the tensor functions that graph functions call in any way:
// as R.call_tir(cls.f, ...) does, by a packed function's name, as values. Those
// that are not called are not there.
//
// A run calls the graph function `entry`, or, without one, each public graph
// function that no other calls. A call of a graph function counts what is
// called there; of an `if`, both branches count; a recursive call counts
// nothing. Numbers stop at kMostCalls.
std::map<std::string, double> CallCounts(const Module& module,
                                         const std::string& entry = "");

inline constexpr double kMostCalls = 1e12;

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_CALL_COUNTS_H_
