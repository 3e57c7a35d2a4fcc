// What a C or C++ program needs to call a compiled kernel, as files.
#ifndef KILN_TOOLS_C_EXPORT_C_FILES_H_
#define KILN_TOOLS_C_EXPORT_C_FILES_H_

#include <string>

#include "kiln/tools/c_export/c_kernel.h"

namespace kiln {

// kernel.h: the entries of kernel.o (and prepare.o), each with a function of
// typed parameters over it, `kiln_NAME_call`, and what they expect: types,
// shapes, alignment, what is read and written, what they return, what to link.
std::string CHeader(const CKernel& kernel);

// example.c: allocates, fills, prepares, calls and prints. Element i of the
// b-th parameter is the whole number
//
//   low + ((i + 97 b) * 2654435761 mod 2^64 >> 7) mod (high - low + 1)
//
// of the values that keep indices in bounds, or else of 1 to 11 for floats, of
// which an eighth is taken, 0 to 1 for bool, and 0 to 5. For each tensor that
// is written it prints "NAME: N elements, sum S, first ..., last L".
std::string CExample(const CKernel& kernel);

// kiln_host.h and kiln_host.c: threads and workspaces (vm/c_host).
std::string CHostHeaderFile();
std::string CHostSourceFile();

}  // namespace kiln

#endif  // KILN_TOOLS_C_EXPORT_C_FILES_H_
