#include "kiln/search/space/rule/testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <random>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

std::vector<Tensor> RandomArgs(const Function& f, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Tensor> args;
  for (const Param& param : f.params) {
    std::vector<int64_t> shape;
    for (const Expr& e : param.buffer->shape) shape.push_back(*AsInt(e));
    args.emplace_back(param.buffer->dtype, shape);
    for (int64_t i = 0; i < args.back().size(); ++i) {
      args.back().Set(i, uniform(random));
    }
  }
  return args;
}

}  // namespace

absl::Status CheckCloseResults(const Function& before, const Function& after,
                               uint64_t seed) {
  std::vector<Tensor> a = RandomArgs(before, seed), b = RandomArgs(after, seed);
  KILN_RETURN_IF_ERROR(Interpret(before, a));
  KILN_RETURN_IF_ERROR(Interpret(after, b));
  for (size_t p = 0; p < a.size(); ++p) {
    for (int64_t i = 0; i < a[p].size(); ++i) {
      const double x = a[p].GetReal(i), y = b[p].GetReal(i);
      if (std::abs(x - y) <= 1e-5 + 1e-4 * std::abs(x)) continue;
      return absl::InternalError(absl::StrCat("argument ", p, " element ", i,
                                              " is ", y, " and was ", x,
                                              " before (seed ", seed, ")"));
    }
  }
  return absl::OkStatus();
}

Module ParseProgram(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *module : Module();
}

std::vector<ScheduleRule> RulesNamed(const std::vector<std::string>& names) {
  std::vector<ScheduleRule> rules;
  absl::c_copy_if(CpuRules(), std::back_inserter(rules),
                  [&](const ScheduleRule& rule) {
                    return absl::c_linear_search(names, rule.name);
                  });
  EXPECT_EQ(rules.size(), names.size());
  return rules;
}

std::vector<Schedule> ApplyRule(RuleFunction* rule, const Module& module,
                                const std::string& block,
                                const RuleContext& context) {
  return rule(Schedule(module), block, context);
}

std::vector<Function> ExpectSameMeaning(const Module& module,
                                        const std::vector<Schedule>& made,
                                        int draws) {
  std::vector<Function> programs;
  for (const Schedule& schedule : made) {
    TraceSpace space(module, 0);
    space.Add(schedule.trace());
    const size_t before = programs.size();
    for (int i = 0; i < draws; ++i) {
      const auto candidate = space.Sample(3, i);
      if (!candidate.ok()) continue;
      programs.push_back(candidate->scheduled);
      const absl::Status same =
          CheckCloseResults(module.functions[0], programs.back(), 5 + i);
      EXPECT_TRUE(same.ok()) << same << space.TraceText(candidate->point);
    }
    EXPECT_GT(programs.size(), before) << "every draw was refused";
  }
  return programs;
}

int CountRootLoops(const Function& f) {
  int count = 0;
  Visit(f.root().body, [&](const Stmt& s) {
    count += s.kind() == StmtKind::kFor;
    return s.kind() == StmtKind::kSeq;
  });
  return count;
}

int CountLoops(const Function& f, ForKind kind) {
  int count = 0;
  Visit(f.body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    count += loop && loop->for_kind == kind;
    return true;
  });
  return count;
}

}  // namespace kiln
