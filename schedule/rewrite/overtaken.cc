#include "kiln/schedule/rewrite/overtaken.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/init_nest.h"

namespace kiln {
namespace {

// The loops around both blocks that are not among `place`.
std::vector<const ForNode*> SharedBut(const std::vector<const ForNode*>& place,
                                      const ScopeBlock& a,
                                      const ScopeBlock& b) {
  std::vector<const ForNode*> shared;
  for (size_t i = 0; i < std::min(a.loops.size(), b.loops.size()); ++i) {
    const ForNode* loop = a.loops[i];
    if (loop != b.loops[i]) break;
    const bool stays =
        std::find(place.begin(), place.end(), loop) != place.end();
    if (!stays && !IsOne(loop->extent)) shared.push_back(loop);
  }
  return shared;
}

// Whether no iteration of the loops changes what another one wrote.
bool WritesOnce(const Scope& scope, int writer,
                const std::vector<const ForNode*>& loops) {
  if (!WhyNotComplete(scope, writer)) return true;
  const BlockRealizeNode& realize = *scope.blocks[writer].realize;
  return !WhyNotReduction(scope, writer) &&
         std::none_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
           return MovesIterator(*loop, realize, IterType::kReduce);
         });
}

}  // namespace

Reason WhyOvertaken(const Scope& scope, int block,
                    const std::vector<const ForNode*>& place) {
  for (const BufferRegion& read : scope.blocks[block].block().reads) {
    for (int writer : scope.Writers(read.buffer)) {
      if (writer == block) continue;
      const std::vector<const ForNode*> left =
          SharedBut(place, scope.blocks[writer], scope.blocks[block]);
      if (left.empty()) continue;
      if (WritesOnce(scope, writer, left) &&
          !WhyNotCovered(scope, block, read.buffer)) {
        continue;
      }
      return absl::StrCat(Describe(scope.blocks[block].block()),
                          " reads what each iteration of ",
                          Describe(*left.front()), " leaves in `",
                          read.buffer->name,
                          "`, and would come after all of them");
    }
  }
  return std::nullopt;
}

}  // namespace kiln
