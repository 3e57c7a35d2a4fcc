// A declaration has to bring back every part of a buffer when it is read. A
// variable that is known where the declaration stands is passed by its name. A
// stride that is first met here is declared in quotes; an address or an offset
// that statements use, and nothing gives, is left out of the declaration. From
// there on such variables are spelled as parts of the buffer:
//
//   A of n x 16 float32 with strides (s, 1) and offset o, both used below
//     n = T.int64()
//     A = T.match_buffer(a, (n, 16), strides=("s", 1))
//     ... A.strides[0] ... A.elem_offset ...
//
// An offset or address that no statement uses is declared ahead of its buffer,
// like n. Parts that a dense float32 buffer in global memory has anyway are
// left out; only parameters that are T.Buffer always show their type.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/text/printer/literals.h"
#include "kiln/ir/text/printer/stmt_printer.h"

namespace kiln::script {

// A new variable that stands alone may be declared in quotes: "n".
std::string StmtPrinter::Extent(const Expr& e, bool quotes_new) {
  const auto* var = e.As<VarNode>();
  if (var == nullptr || !quotes_new || names_.IsDefined(var)) {
    return exprs_.Print(e);
  }
  return Quoted(names_.Define(Var(var)));
}

std::string StmtPrinter::Strides(const Buffer& buffer) {
  std::vector<std::string> items;
  for (const Expr& stride : buffer->strides) {
    const auto* var = stride.As<VarNode>();
    const bool is_new = var && !names_.IsDefined(var);
    items.push_back(Extent(stride, /*quotes_new=*/true));
    if (!is_new) continue;
    names_.Alias(Var(var), absl::StrCat(names_.Of(buffer.get()), ".strides[",
                                        items.size() - 1, "]"));
  }
  return absl::StrCat("(", absl::StrJoin(items, ", "),
                      items.size() == 1 ? ",)" : ")");
}

// n = T.int64() for what the declaration uses and nothing has defined yet.
void StmtPrinter::DeclareVars(const Buffer& buffer, bool shape_too) {
  auto declare = [&](const Expr& e) {
    for (const Var& var : FreeVars(e)) {
      if (names_.IsDefined(var.get())) continue;
      const std::string name = names_.Define(var);
      Line(absl::StrCat(name, " = T.", var.dtype().ToString(), "()"));
    }
  };
  for (const Expr& extent : buffer->shape) {
    if (shape_too) declare(extent);
  }
  for (const Expr& stride : buffer->strides) {
    if (!stride.As<VarNode>()) declare(stride);
  }
  const Expr& offset = buffer->elem_offset;
  if (offset && !(offset.As<VarNode>() && used_.count(offset.As<VarNode>()))) {
    declare(offset);
  }
  const VarNode* data = buffer->data.get();
  if (data && !used_.count(data)) declare(buffer->data);
}

// The address and the offset: given where they are known, otherwise left open
// and spelled A.data and A.elem_offset from here on.
void StmtPrinter::NameParts(const Buffer& buffer, Declares declares,
                            std::string& arguments) {
  const std::string name = names_.Of(buffer.get());
  if (const VarNode* data = buffer->data.get()) {
    if (names_.IsDefined(data)) {
      absl::StrAppend(&arguments, ", data=", names_.Of(data));
    } else {
      names_.Alias(buffer->data, name + ".data");
    }
  }
  if (!buffer->elem_offset) return;
  const auto* offset = buffer->elem_offset.As<VarNode>();
  const bool open =
      offset && !names_.IsDefined(offset) &&
      (declares == Declares::kParameter || declares == Declares::kMatch);
  if (open) {
    names_.Alias(Var(offset), name + ".elem_offset");
  } else {
    absl::StrAppend(&arguments,
                    ", elem_offset=", exprs_.Print(buffer->elem_offset));
  }
}

std::string StmtPrinter::BufferArguments(const Buffer& buffer,
                                         Declares declares) {
  const bool quotes = newest_ && declares == Declares::kParameter;
  std::vector<std::string> extents;
  for (const Expr& extent : buffer->shape) {
    extents.push_back(Extent(extent, quotes));
  }
  std::string text = absl::StrCat("(", absl::StrJoin(extents, ", "),
                                  extents.size() == 1 ? ",)" : ")");
  if (declares == Declares::kParameter || buffer->dtype != DType::Float(32)) {
    absl::StrAppend(&text, ", ", Quoted(buffer->dtype.ToString()));
  }
  std::string parts;
  NameParts(buffer, declares, parts);
  const size_t offset = parts.find(", elem_offset=");
  const std::string data = parts.substr(0, offset);
  text += data;
  if (!buffer->strides.empty()) {
    absl::StrAppend(&text, ", strides=", Strides(buffer));
  }
  if (offset != std::string::npos) text += parts.substr(offset);
  if (buffer->scope != "global") {
    absl::StrAppend(&text, ", scope=", Quoted(buffer->scope));
  }
  if (buffer->alignment != 64) {
    absl::StrAppend(&text, ", align=", buffer->alignment);
  }
  if (buffer->offset_factor != 0) {
    absl::StrAppend(&text, ", offset_factor=", buffer->offset_factor);
  }
  return text;
}

// NAME = CALLEE(...); `callee` comes with its bracket and what goes first.
void StmtPrinter::DeclareBuffer(const Buffer& buffer, const std::string& callee,
                                Declares declares) {
  DeclareVars(buffer, /*shape_too=*/true);
  const std::string name = names_.Define(buffer);
  Line(absl::StrCat(name, " = ", callee, BufferArguments(buffer, declares),
                    ")"));
}

// An address that statements use and whose buffer they do not is spelled as
// T.allocate gives it; otherwise the buffer itself is declared.
void StmtPrinter::PrintAllocate(const AllocateNode& allocate, bool is_last) {
  const Buffer& buffer = allocate.buffer;
  const bool raw = !allocate.is_view && buffer->data &&
                   !accessed_.count(buffer.get()) && buffer->strides.empty();
  std::string call, name;
  auto define = [&] {
    if (raw) {
      std::vector<std::string> extents;
      for (const Expr& e : buffer->shape) extents.push_back(exprs_.Print(e));
      call = absl::StrCat("T.allocate([", absl::StrJoin(extents, ", "), "], ",
                          Quoted(buffer->dtype.ToString()), ", ",
                          Quoted(buffer->scope));
      name = names_.Define(buffer->data);
    } else {
      DeclareVars(buffer, /*shape_too=*/true);
      name = names_.Define(buffer);
      const bool view = allocate.is_view;
      call =
          absl::StrCat(view ? "T.Buffer(" : "T.decl_buffer(",
                       BufferArguments(buffer, view ? Declares::kView
                                                    : Declares::kAllocation));
    }
    if (!allocate.annotations.empty()) {
      absl::StrAppend(
          &call, ", annotations=", exprs_.AttributeMap(allocate.annotations));
    }
    call += ")";
  };
  if (is_last) {
    define();
    Line(absl::StrCat(name, " = ", call));
    return Print(allocate.body);
  }
  NamesScope scope(names_);
  define();
  if (call.compare(0, 9, "T.Buffer(") == 0) call.replace(2, 6, "decl_buffer");
  Line(absl::StrCat("with ", call, " as ", name, ":"));
  PrintBody(allocate.body);
}

}  // namespace kiln::script
