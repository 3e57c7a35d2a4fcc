// Constants whose bytes a script has ahead of the module:
//
//   metadata = tvm.ir.load_json("""{"root_index": 12, "nodes": [...], ...}""")
//   ...
//       gv = R.multiply(x, metadata["ir.GenericConst"][0])
//
// The nodes are a graph: maps and arrays of the numbers of other nodes, objects
// with fields, and tensors, whose bytes are in base64.
#ifndef KILN_IR_TEXT_READER_METADATA_H_
#define KILN_IR_TEXT_READER_METADATA_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"

namespace kiln::script {

// Of each kind ("ir.GenericConst"), in order; null for those that are no
// tensors.
using Metadata = std::map<std::string, std::vector<graph::Expr>>;

// InvalidArgument for what is no JSON of this form.
absl::StatusOr<Metadata> ReadMetadata(std::string_view json);

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_METADATA_H_
