// Reads what declares buffers: T.Buffer, T.match_buffer, T.alloc_buffer and
// their older and newer spellings.
#ifndef KILN_IR_TEXT_READER_BUFFER_READER_H_
#define KILN_IR_TEXT_READER_BUFFER_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/text/python/arguments.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/reader/context.h"
#include "kiln/ir/text/reader/expr_reader.h"

namespace kiln::script {

// What a declaration is for; it decides what is left open.
enum class BufferRole {
  kParameter,  // T.Buffer as an annotation, T.match_buffer of a handle
  kMatch,      // T.match_buffer of a region
  kAllocated,  // T.alloc_buffer
  kView,       // T.Buffer(..., data=x), T.decl_buffer(..., data=x)
};

class BufferReader {
 public:
  BufferReader(Context& context, ExprReader& exprs)
      : context_(context), exprs_(exprs) {}

  // The buffer `name` that the call declares. The call's parameters from
  // `shape` on are those of T.Buffer; for T.match_buffer the first argument,
  // `param`, is left to the caller.
  absl::StatusOr<Buffer> Declare(const std::string& name, const py::Expr& call,
                                 BufferRole role);

  // T.Buffer(...) or the older T.Buffer[shape, dtype] as an annotation.
  absl::StatusOr<Buffer> Annotation(const std::string& name,
                                    const py::Expr& annotation);
  static bool IsBufferAnnotation(const py::Expr& annotation);

  // A dense allocation: T.allocate([512], "float32", "global").
  absl::StatusOr<Buffer> Allocated(const std::string& name,
                                   const py::Expr& call, AttrMap& annotations);

  // An error where the extents of the buffer do not multiply to an int64 of
  // bytes, or one of them is negative.
  absl::Status CheckSize(const BufferNode& buffer, py::Position at) const;

 private:
  absl::Status Fill(const py::Arguments& args, BufferNode& node,
                    const py::Expr& call);
  void OpenFields(BufferNode& node, BufferRole role);
  void Remember(const Buffer& buffer);

  Context& context_;
  ExprReader& exprs_;
};

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_BUFFER_READER_H_
