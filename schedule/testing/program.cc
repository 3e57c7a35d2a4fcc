#include "kiln/schedule/testing/program.h"

#include "kiln/base/check.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {

Function ParseProgram(const std::string& text) {
  auto f = ParseFunction("test.py", text);
  KILN_CHECK(f.ok()) << f.status().ToString();
  return *std::move(f);
}

BlockId BlockNamed(const Function& f, std::string_view name) {
  return BlocksNamed(f, name).at(0);
}

const BlockRealizeNode& RealizeNamed(const Function& f, std::string_view name) {
  // The statement lives as long as the function.
  return *FindBlock(f, BlockNamed(f, name))->realize();
}

std::vector<LoopId> LoopsOf(const Function& f, std::string_view block) {
  return LoopIdsAbove(*FindBlock(f, BlockNamed(f, block)));
}

std::vector<std::string> LoopNames(const Function& f, std::string_view block) {
  std::vector<std::string> names;
  for (const ForNode* loop : LoopsAbove(*FindBlock(f, BlockNamed(f, block)))) {
    names.push_back(loop->var.name());
  }
  return names;
}

std::vector<int64_t> Extents(const Function& f, std::string_view block) {
  std::vector<int64_t> extents;
  for (const ForNode* loop : LoopsAbove(*FindBlock(f, BlockNamed(f, block)))) {
    const int64_t* extent = AsInt(loop->extent);
    KILN_CHECK(extent) << "loop " << loop->var.name()
                       << " has no constant extent";
    extents.push_back(*extent);
  }
  return extents;
}

const ForNode& LoopById(const Function& f, LoopId id) {
  const auto path = FindLoop(f, id);
  KILN_CHECK(path) << "no loop " << id;
  return *path->loop();
}

}  // namespace kiln
