// Reads modules from TVMScript, the text form of programs.
//
//   KILN_ASSIGN_OR_RETURN(Module module, ParseModule("mm.py", text));
//
// Both the classic spelling (T.block, T.alloc_buffer) and the newest one
// (T.sblock, T.sblock_alloc_buffer) are read, and what people write by hand:
// T.handle with T.match_buffer, symbolic extents, blocks without T.reads and
// T.writes (these are then inferred). The text may be a module class, bare
// functions, or a script that holds either among other things.
//
// Nobody runs the script around a program: of it, constants are known. Inside
// of a module and a function everything has a meaning or is refused.
//
// Loop variables, block iterators, extents and indices are int64, whatever
// width the text gives them. A number without a type takes the type of what
// it meets; alone it is an int64 or a float32. Operands of two types meet as
// TVM brings them together (int8 + float32 is float32), but a store converts
// only what loses nothing: no int32 goes into an int8 buffer, and no float into
// an integer one, without T.Cast. Indentation by tabs and spaces is read with
// tabs of 4 or of 8 columns, and refused where both make sense and differ.
//
// Errors are InvalidArgument, with the place, the reason and a way out.
#ifndef KILN_IR_TEXT_READER_READER_H_
#define KILN_IR_TEXT_READER_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/attr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"

namespace kiln {

absl::StatusOr<Module> ParseModule(const python::Source& source);
// `name` is what messages call the text.
absl::StatusOr<Module> ParseModule(std::string name, std::string text);

// The text's only tensor function.
absl::StatusOr<Function> ParseFunction(std::string name, std::string text);

// An attribute as a script spells it: None, 2, "NCHW", [1, 1], {"k": True}.
absl::StatusOr<Attr> ParseAttribute(std::string name, std::string text);

}  // namespace kiln

#endif  // KILN_IR_TEXT_READER_READER_H_
