// Expressions with all lanes of a loop at once.
#ifndef KILN_CODEGEN_LOWER_VECTOR_VECTOR_EXPR_H_
#define KILN_CODEGEN_LOWER_VECTOR_VECTOR_EXPR_H_

#include <unordered_map>
#include <unordered_set>

#include "kiln/codegen/lower/guards/sure_loads.h"
#include "kiln/codegen/lower/vector/near_lanes.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/expr/expr.h"

namespace kiln::lower {

// Maps scalar expressions over a lane variable to vectors of `lanes`.
class LaneMapper {
 public:
  // Of loads of elements of `least_masked_bits` or more, lanes may be left out.
  LaneMapper(Var lane, Expr min, int lanes,
             int least_masked_bits = kLeastMaskedBits)
      : lane_(std::move(lane)),
        min_(std::move(min)),
        lanes_(lanes),
        least_masked_bits_(least_masked_bits) {}

  int lanes() const { return lanes_; }
  const Var& lane() const { return lane_; }
  const Expr& min() const { return min_; }

  // The loads that each lane makes in any case.
  SureLoads& sure_loads() { return sure_loads_; }

  // The expression for lanes min, min + 1, ...; scalar when no lane differs;
  // null when it has no vector form.
  Expr Map(const Expr& e);
  // Whether the value of `e` may differ between lanes.
  bool DependsOnLane(const Expr& e) const;

  // Declares that `var` differs between lanes; gives the vector variable.
  Var Widen(const Var& var);
  void Forget(const Var& var) { wide_vars_.erase(var.get()); }
  // Declares that `buffer` has an element for each lane: element i of lane l is
  // element i * lanes + l of `wide`.
  void WidenBuffer(const BufferNode* buffer, Buffer wide) {
    wide_buffers_[buffer] = std::move(wide);
  }
  // The buffer and the index for an access to element `index` in each lane;
  // the index is null when it has no vector form.
  std::pair<Buffer, Expr> MapAccess(const Buffer& buffer, const Expr& index);

 private:
  bool MayTrap(const Expr& e) const;
  bool IsMaskableLoad(const Expr& e) const;
  Expr MapLinear(const Expr& e);
  Expr MapBinary(const Expr& e);
  Expr MapChoice(const Expr& condition, const Expr& yes, const Expr& no,
                 bool is_lazy);
  Expr MapCall(const Expr& e);
  Expr MapLet(const Expr& e);
  Expr Wide(const Expr& e) const;

  Var lane_;
  Expr min_;
  int lanes_;
  int least_masked_bits_;
  std::unordered_map<const VarNode*, Var> wide_vars_;
  std::unordered_map<const BufferNode*, Buffer> wide_buffers_;
  SureLoads sure_loads_;
};

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_VECTOR_VECTOR_EXPR_H_
