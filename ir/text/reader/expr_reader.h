// Reads the expressions of a program.
#ifndef KILN_IR_TEXT_READER_EXPR_READER_H_
#define KILN_IR_TEXT_READER_EXPR_READER_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/reader/context.h"
#include "kiln/ir/text/reader/value.h"

namespace kiln::script {

// [begin, end). An end of the form begin + extent, as programs are printed,
// gives that extent; others the simplified difference.
Range RangeBetween(const Expr& begin, const Expr& end);

// Whether the call is of a packed function, which may be handed buffers.
bool IsPackedCall(Intrinsic op);
// The intrinsic that the script calls `name`, under any of its names.
std::optional<Intrinsic> IntrinsicNamed(std::string_view name);

class ExprReader {
 public:
  explicit ExprReader(Context& context) : context_(context) {}

  absl::StatusOr<Value> Read(const py::Expr& e);
  // As `Read`, for a place of type `dtype`: a choice between two numbers that
  // have no type takes it.
  absl::StatusOr<Value> ReadFor(const py::Expr& e, DType dtype);
  // The operands of one operation. Beside an int32 value, a choice between two
  // numbers that have no type is int32.
  absl::StatusOr<std::pair<Value, Value>> Operands(const py::Expr& first,
                                                   const py::Expr& second);
  // As `Read`, with a type for a number that has none.
  absl::StatusOr<Expr> Settled(const py::Expr& e);
  // Where an index, an extent or a bound is needed: int64.
  absl::StatusOr<Expr> Index(const py::Expr& e);
  absl::StatusOr<Expr> Condition(const py::Expr& e);
  absl::StatusOr<Expr> As(const py::Expr& e, DType dtype);

  // A tuple or list of extents; one extent alone is a shape of one.
  absl::StatusOr<std::vector<Expr>> Shape(const py::Expr& e);
  // A buffer by its name.
  absl::StatusOr<Buffer> BufferNamed(const py::Expr& e);
  // buffer[i, lo:hi] as a box; the bare name is the whole of the buffer.
  absl::StatusOr<BufferRegion> Region(const py::Expr& e);
  // The indices of a load or store; slices become vectors.
  absl::StatusOr<std::vector<Expr>> Indices(const Buffer& buffer,
                                            const py::Expr& subscript);
  // "float32" as a string, a name bound to one, or T.float32.
  absl::StatusOr<DType> Type(const py::Expr& e);
  absl::StatusOr<std::string> String(const py::Expr& e);
  // An attribute value: constants, strings, lists and dicts of them, None.
  absl::StatusOr<Attr> Attribute(const py::Expr& e);
  absl::StatusOr<AttrMap> AttributeMap(const py::Expr& e);

  // A literal, or what a constant of the script around stands for.
  const py::Expr& Resolve(const py::Expr& e) const;

 private:
  // A call of Select or if_then_else by position.
  bool IsPlainChoice(const py::Expr& e) const;
  absl::StatusOr<Value> Dispatch(const py::Expr& e);
  absl::StatusOr<Value> Number(const py::Expr& e);
  absl::StatusOr<Value> Name(const py::Expr& e);
  absl::StatusOr<Value> BufferAttribute(const py::Expr& e);
  bool AreBuffers(const py::Expr& e) const;
  absl::StatusOr<Value> Subscript(const py::Expr& e);
  absl::StatusOr<Value> ArrayElement(const py::Expr& e);
  absl::StatusOr<Value> Operator(const py::Expr& e);
  absl::StatusOr<Value> Comparison(const py::Expr& e);
  absl::StatusOr<Value> Boolean(const py::Expr& e);
  absl::StatusOr<Value> Choice(const py::Expr& at, const py::Expr& condition,
                               const py::Expr& yes, const py::Expr& no,
                               bool lazy);
  absl::StatusOr<Expr> Extent(const py::Expr& e);
  absl::StatusOr<Expr> Slice(const py::Expr& slice);
  absl::StatusOr<Range> RangeOf(const py::Expr& e, const Expr& extent);

  // call_reader.cc
  absl::StatusOr<Value> Call(const py::Expr& e);
  absl::StatusOr<Value> TypedConstant(const py::Expr& e, DType dtype);
  absl::StatusOr<Value> ConstantOf(const py::Expr& e, DType dtype);
  absl::StatusOr<Value> SpecialCall(const py::Expr& e, const std::string& name,
                                    bool& known);
  absl::StatusOr<Value> MinMaxCall(const py::Expr& e, ExprKind kind);
  absl::StatusOr<Value> NegationCall(const py::Expr& e, std::string_view op);
  absl::StatusOr<Value> BinaryCall(const py::Expr& e, const std::string& name,
                                   bool& known);
  // T.Cast names the type first, T.cast last.
  absl::StatusOr<Value> CastCall(const py::Expr& e, bool type_first);
  absl::StatusOr<Value> LetCall(const py::Expr& e);
  absl::StatusOr<Value> VectorCall(const py::Expr& e, bool ramp);
  absl::StatusOr<Value> TypedCall(const py::Expr& e, Intrinsic op);
  absl::StatusOr<Value> LimitCall(const py::Expr& e, Intrinsic op);
  absl::StatusOr<Value> MathCall(const py::Expr& e, Intrinsic op);
  absl::StatusOr<Value> ScaledCall(const py::Expr& e, Intrinsic op);
  absl::StatusOr<Value> LaneSumsCall(const py::Expr& e);
  absl::StatusOr<Value> IntrinsicCall(const py::Expr& e, Intrinsic op);
  absl::StatusOr<Value> UnknownCall(const py::Expr& e, const std::string& name);
  absl::StatusOr<Expr> Argument(const py::Expr& e);

  // packed_call_reader.cc
  // An argument of a packed function; a bare buffer becomes an array.
  absl::StatusOr<Expr> PackedArgument(const py::Expr& e);
  absl::StatusOr<Expr> ArrayOperand(const py::Expr& e, size_t index);

  Mixing mixing() const { return in_index_ ? Mixing::kWiden : Mixing::kNarrow; }

  Context& context_;
  bool in_index_ = false;  // what is read is part of an index
};

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_EXPR_READER_H_
