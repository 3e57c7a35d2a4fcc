#include "kiln/codegen/lower/guards/alternatives.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace kiln::lower {
namespace {

const IfNode* AsChoice(const Stmt& s) {
  const auto* choice = s.As<IfNode>();
  return choice && choice->else_case ? choice : nullptr;
}

}  // namespace

Stmt MapAlternatives(const Stmt& body, FunctionRef<Stmt(const Stmt&)> map) {
  if (const IfNode* choice = AsChoice(body)) {
    return MakeIf(choice->condition, MapAlternatives(choice->then_case, map),
                  MapAlternatives(choice->else_case, map));
  }
  const auto* seq = body.As<SeqNode>();
  if (!seq || std::none_of(seq->stmts.begin(), seq->stmts.end(), AsChoice)) {
    return map(body);
  }
  std::vector<Stmt> mapped, beside;
  const auto flush = [&] {
    if (!beside.empty()) mapped.push_back(map(MakeSeq(std::move(beside))));
    beside.clear();
  };
  for (const Stmt& s : seq->stmts) {
    if (!AsChoice(s)) {
      beside.push_back(s);
      continue;
    }
    flush();
    mapped.push_back(MapAlternatives(s, map));
  }
  flush();
  return MakeSeq(std::move(mapped));
}

}  // namespace kiln::lower
