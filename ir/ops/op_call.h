// A call of an op, as inference and lowering look at it: arguments by position
// and attributes by name, each as the kind of thing that the op needs.
//
//   absl::StatusOr<StructInfo> InferSoftmax(const OpCall& call) {
//     KILN_ASSIGN_OR_RETURN(const TensorInfo* data, call.Tensor(0));
//     KILN_ASSIGN_OR_RETURN(auto axis, call.Axis("axis", data->rank));
//     ...
//     return call.info(0);
//   }
//
// Errors are InvalidArgument and show the call with a caret under the argument
// that they are about:
//
//   R.nn.softmax(x, axis=3): axis 3 is outside of the 2 dimensions of `data`
//   R.nn.softmax(x, axis=3)
//                ^ R.Tensor((2, 3), dtype="float32")
#ifndef KILN_IR_OPS_OP_CALL_H_
#define KILN_IR_OPS_OP_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/signature.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Two extents that have to be equal.
struct EqualExtents {
  Expr a, b;
};

// What a call stands in.
struct OpContext {
  const Module* module = nullptr;  // null: no functions are known
  Analyzer* analyzer;              // what is known of dimensions
  // Takes what a call relies on and nobody can prove; null: nobody asks.
  std::vector<EqualExtents>* assumed = nullptr;
};

class OpCall {
 public:
  // The call is of an op. It and the context outlive this.
  OpCall(const graph::CallNode& call, const OpContext& context);

  const graph::CallNode& node() const { return call_; }
  const std::string& name() const;
  Analyzer& analyzer() const { return *context_.analyzer; }
  const Module* module() const { return context_.module; }

  // --- Arguments.
  size_t size() const { return call_.args.size(); }
  bool Has(size_t i) const { return i < size(); }
  const graph::Expr& arg(size_t i) const { return call_.args[i]; }
  // Never null: an object where nothing is known.
  const graph::StructInfo& info(size_t i) const { return infos_[i]; }
  // What the signature calls the argument.
  std::string ArgName(size_t i) const;

  // A tensor; its rank, type and extents may be unknown.
  absl::StatusOr<const graph::TensorInfo*> Tensor(size_t i) const;
  // A tuple of tensors.
  absl::StatusOr<std::vector<const graph::TensorInfo*>> Tensors(size_t i) const;
  // A shape, or a tuple of whole numbers in its place; null values where the
  // extents are unknown.
  absl::StatusOr<const graph::ShapeInfo*> Shape(size_t i) const;
  // A number: its value where it is known, else null. A constant of no
  // dimensions counts.
  absl::StatusOr<graph::Scalar> Number(size_t i) const;
  // A number that is a constant.
  absl::StatusOr<int64_t> IntArg(size_t i) const;
  absl::StatusOr<double> RealArg(size_t i) const;
  absl::StatusOr<bool> BoolArg(size_t i) const;

  // --- Attributes. A missing one counts as None; the signature's defaults
  // stand in the call already where it was read from text.
  const Attr& attr(std::string_view name) const;
  bool IsNone(std::string_view name) const { return attr(name).is_none(); }
  absl::StatusOr<int64_t> Int(std::string_view name) const;
  absl::StatusOr<double> Real(std::string_view name) const;
  absl::StatusOr<bool> Bool(std::string_view name) const;
  absl::StatusOr<std::string> String(std::string_view name) const;
  // Void for None and for "".
  absl::StatusOr<DType> Type(std::string_view name) const;
  // A list of integers, or one integer.
  absl::StatusOr<std::vector<int64_t>> Ints(std::string_view name) const;
  absl::StatusOr<std::vector<double>> Reals(std::string_view name) const;
  // As many integers as `count`; one integer stands for all.
  absl::StatusOr<std::vector<int64_t>> Ints(std::string_view name,
                                            size_t count) const;
  // An axis of a tensor of `rank` dimensions, counted from the end where it is
  // negative: 0 <= axis < rank. As given where the rank is unknown.
  absl::StatusOr<int> Axis(std::string_view name, int rank) const;
  // Several axes, each once; nullopt for None (all of them).
  absl::StatusOr<std::optional<std::vector<int>>> Axes(std::string_view name,
                                                       int rank) const;
  // `axis` from the front, checked.
  absl::StatusOr<int> NormalAxis(int64_t axis, int rank) const;

  // --- Conditions.
  // False where `a` and `b` certainly differ. Where that is open, the call
  // holds only if they are equal, and they join the context's assumptions.
  bool AreEqual(const Expr& a, const Expr& b) const;
  bool IsMultiple(const Expr& extent, int64_t factor) const;
  // Whether the call runs only where its assumptions hold, so that its result
  // may be told by them, too.
  bool has_checks() const { return context_.assumed != nullptr; }

  // --- Errors.
  absl::Status Error(std::string_view message) const;
  absl::Status ErrorAt(size_t arg, std::string_view message) const;

 private:
  const graph::CallNode& call_;
  OpContext context_;
  const graph::OpSignature* signature_;  // may be null
  std::vector<graph::StructInfo> infos_;
  mutable std::vector<graph::StructInfo> shapes_;  // of tuples read as shapes
};

}  // namespace kiln

#endif  // KILN_IR_OPS_OP_CALL_H_
