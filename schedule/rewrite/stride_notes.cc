#include "kiln/schedule/rewrite/stride_notes.h"

#include <cstddef>
#include <utility>

namespace kiln {
namespace {

bool IsReplaced(const Attr& note, const BlockNode& block,
                const BlockFields& fields) {
  const AttrList* numbers = note.list();
  if (!numbers || numbers->empty() || !numbers->front().expr()) return false;
  const int64_t* index = AsInt(*numbers->front().expr());
  if (!index || *index < 0) return false;
  const auto i = static_cast<size_t>(*index);
  return i < block.writes.size() &&
         (i >= fields.writes.size() ||
          fields.writes[i].buffer != block.writes[i].buffer);
}

}  // namespace

void DropStridesOfReplaced(const BlockNode& block, BlockFields* fields) {
  const auto found = fields->annotations.find(kStrideAnnotation);
  if (found == fields->annotations.end() || !found->second.list()) return;
  AttrList kept;
  for (const Attr& note : *found->second.list()) {
    if (!IsReplaced(note, block, *fields)) kept.push_back(note);
  }
  if (kept.empty()) {
    fields->annotations.erase(found);
  } else {
    found->second = Attr(std::move(kept));
  }
}

}  // namespace kiln
