#include "kiln/ir/ops/passes.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/pass.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/legalize.h"

namespace kiln {
namespace {

struct NoOptions {};

absl::StatusOr<Module> Infer(Module module, const NoOptions&) {
  return InferModule(module);
}

// What is to be lowered needs struct info.
absl::StatusOr<Module> Legalize(Module module, const NoOptions&) {
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  return LegalizeOps(inferred);
}

constexpr Pass<Module, NoOptions> kPasses[] = {
    {"infer", "infer", Infer},
    {"legalize", "legalize", Legalize},
};

const Pass<Module, NoOptions>* FindPass(const std::string& name) {
  for (const auto& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> GraphPassNames() {
  std::vector<std::string> names;
  for (const auto& pass : kPasses) names.emplace_back(pass.name);
  return names;
}

absl::StatusOr<Module> RunGraphPasses(Module module,
                                      const std::vector<std::string>& names) {
  std::vector<Pass<Module, NoOptions>> passes;
  for (const std::string& name : names) {
    const auto* pass = FindPass(name);
    if (!pass) {
      return absl::InvalidArgumentError(
          absl::StrCat("no pass is called ", name, "; passes are ",
                       absl::StrJoin(GraphPassNames(), ", ")));
    }
    passes.push_back(*pass);
  }
  return RunPasses(absl::Span<const Pass<Module, NoOptions>>(passes),
                   std::move(module), NoOptions());
}

}  // namespace kiln
