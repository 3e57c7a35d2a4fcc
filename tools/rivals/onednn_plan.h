// How oneDNN runs a case: a primitive and what it runs on.
#ifndef KILN_TOOLS_RIVALS_ONEDNN_PLAN_H_
#define KILN_TOOLS_RIVALS_ONEDNN_PLAN_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "kiln/tools/rivals/op_case.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace kiln::bench {

struct OneDnnPlan {
  struct Copy {
    dnnl::reorder reorder;
    dnnl::memory from, to;
  };
  std::vector<Copy> copies;  // in every call, ahead of the primitive
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> args;

  void Run(dnnl::stream& stream);
};

// What plans of all operators are made with.
struct OneDnnContext {
  dnnl::engine engine;
  dnnl::stream stream;
  bool pack_ahead = false;

  // `data`, which lies as `plain` says.
  dnnl::memory Bind(const dnnl::memory::desc& plain, const void* data) const;
  // Constant data in the layout that a primitive wants: copied there now, with
  // pack_ahead, or in every call of the plan.
  dnnl::memory Constant(const dnnl::memory::desc& plain, const void* data,
                        const dnnl::memory::desc& wanted,
                        OneDnnPlan* plan) const;
};

// These throw dnnl::error where oneDNN refuses.
OneDnnPlan PlanConvolution(const OpCase& op, const ConvShape& conv,
                           const OneDnnContext& context);
OneDnnPlan PlanProduct(const OpCase& op, const OneDnnContext& context);
OneDnnPlan PlanSoftmax(const OpCase& op, const OneDnnContext& context);
OneDnnPlan PlanNorm(const OpCase& op, const OneDnnContext& context);
// Layers of models; nullopt where oneDNN has no such operator.
std::optional<OneDnnPlan> PlanLayer(const OpCase& op,
                                    const OneDnnContext& context);

}  // namespace kiln::bench

#endif  // KILN_TOOLS_RIVALS_ONEDNN_PLAN_H_
