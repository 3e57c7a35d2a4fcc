// What the parts of the reader share while they read one function.
#ifndef KILN_IR_TEXT_READER_CONTEXT_H_
#define KILN_IR_TEXT_READER_CONTEXT_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/scope.h"

namespace kiln::script {

namespace py = ::kiln::python;

// A block while its statements are read. The outermost frame stands for the
// root block.
struct BlockFrame {
  bool is_root = false;
  bool has_reads = false, has_writes = false;
  bool is_sblock = false;  // as the newest texts have it
  BlockFields fields;
  std::vector<Expr> values;
  Expr predicate;
};

struct Context {
  explicit Context(const py::Source& source) : source(source) {}

  const py::Source& source;
  Scope scope;
  Function function;
  std::vector<BlockFrame> blocks;
  // The ranges of the loops around the current place.
  std::unordered_map<const VarNode*, Range> loops;
  // Names of buffers whose address or offset the program mentions.
  std::set<std::string> named_data, named_offset;
  // The buffer that an address belongs to.
  std::unordered_map<const VarNode*, Buffer> data_of;

  absl::Status Error(py::Position at, std::string_view message) const {
    return source.Error(at, message);
  }
  // A message without a place gets one.
  absl::Status Place(py::Position at, const absl::Status& status) const {
    return status.ok() ? status
                       : source.Error(at, std::string(status.message()));
  }
};

// "axis.remap" for T.axis.remap, tir.axis.remap, tvm.tir.axis.remap and the
// like; "" for what is not a name of the tensor dialect.
std::string TensorName(const py::Expr& expr);

}  // namespace kiln::script

// As KILN_ASSIGN_OR_RETURN, for a callee whose message knows no place.
#define KILN_ASSIGN_OR_PLACE(lhs, context, at, ...)                          \
  KILN_ASSIGN_OR_PLACE_IMPL(KILN_STATUS_CONCAT(kiln_placed_, __LINE__), lhs, \
                            context, at, (__VA_ARGS__))
#define KILN_ASSIGN_OR_PLACE_IMPL(tmp, lhs, context, at, expr) \
  auto tmp = expr;                                             \
  if (!tmp.ok()) return (context).Place(at, tmp.status());     \
  lhs = std::move(tmp).value()

#endif  // KILN_IR_TEXT_READER_CONTEXT_H_
