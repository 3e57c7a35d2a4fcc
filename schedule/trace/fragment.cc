#include "kiln/schedule/trace/fragment.h"

#include <optional>
#include <string_view>

#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

constexpr int kLines = 6;

// The statement that `rv` stands for; not the root, which is everything.
std::optional<Stmt> StmtOf(const Rv& rv, const State& state) {
  if (rv.kind == RvKind::kInt || rv.index < 0 ||
      static_cast<size_t>(rv.index) >= state.rvs.size()) {
    return std::nullopt;
  }
  const RvValue& value = state.rvs[rv.index];
  const Function& f = *state.functions[value.function];
  const auto path = rv.kind == RvKind::kLoop ? FindLoop(f, value.value)
                                             : FindBlock(f, value.value);
  if (!path || path->size() == 1) return std::nullopt;
  return path->back();
}

std::string FirstLines(std::string_view text) {
  std::string lines;
  for (int i = 0; i < kLines && !text.empty(); ++i) {
    const size_t end = text.find('\n');
    lines.append("\n    ").append(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  if (!text.empty()) lines.append("\n    ...");
  return lines;
}

}  // namespace

std::string Fragment(const Instruction& instruction, const State& state) {
  std::optional<Stmt> stmt;
  for (const Arg& arg : instruction.args) {
    ForEachRv(arg, [&](const Rv& rv) {
      if (!stmt) stmt = StmtOf(rv, state);
    });
  }
  return stmt ? FirstLines(PrintStmt(*stmt)) : "";
}

}  // namespace kiln
