// Reads one tensor function.
#ifndef KILN_IR_TEXT_READER_FUNCTION_READER_H_
#define KILN_IR_TEXT_READER_FUNCTION_READER_H_

#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/metadata.h"
#include "kiln/ir/text/reader/scope.h"

namespace kiln::script {

// What the script around a function names.
struct Surroundings {
  Scope constants;
  std::set<std::string> dimensions;  // symbolic: n = TypeVar("n")
  Metadata metadata;                 // metadata = tvm.ir.load_json("...")
};

// The function that `def` defines. The body is put under a root block if it
// holds blocks and is not a root block already; a function of flat loops stays
// as it is.
absl::StatusOr<Function> ReadFunction(const python::Source& source,
                                      const Surroundings& around,
                                      const python::Stmt& def);

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_FUNCTION_READER_H_
