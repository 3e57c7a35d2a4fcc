#include "kiln/schedule/primitive/storage_align.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/stride_notes.h"

namespace kiln {
namespace {

constexpr char kName[] = "storage_align";
constexpr const char* kKey = kStrideAnnotation;
constexpr size_t kFields = 4;  // tensor, axis, factor, offset

// The numbers of one note; nullopt when it is something else.
std::optional<std::vector<int64_t>> Numbers(const Attr& note) {
  const AttrList* list = note.list();
  if (!list || list->size() != kFields) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Attr& item : *list) {
    const int64_t* value = item.expr() ? AsInt(*item.expr()) : nullptr;
    if (!value) return std::nullopt;
    numbers.push_back(*value);
  }
  return numbers;
}

Attr ToNote(const std::vector<int64_t>& numbers) {
  AttrList list;
  for (int64_t number : numbers) list.push_back(Int(number));
  return list;
}

absl::Status Check(const Function& f, const BlockNode& block, int index,
                   int64_t factor, int64_t offset) {
  if (index < 0 || index >= static_cast<int>(block.writes.size())) {
    return BadArgument(
        kName, absl::StrCat(Describe(block), " writes ", block.writes.size(),
                            " tensors, so that there is no number ", index));
  }
  if (factor < 1 || offset < 0 || offset >= factor) {
    return BadArgument(
        kName, absl::StrCat("a stride cannot be ", offset, " modulo ", factor));
  }
  const Buffer& buffer = block.writes[index].buffer;
  if (IsAllocated(f, buffer)) return absl::OkStatus();
  return Refusal(kName,
                 absl::StrCat("`", buffer->name,
                              "` is not allocated by the function, so that its "
                              "strides are not its to choose"),
                 "stage it with cache_write");
}

// The notes of the block with one more, or with one replaced.
absl::StatusOr<AttrList> WithNote(const BlockNode& block,
                                  const std::vector<int64_t>& note) {
  AttrList notes;
  const auto found = block.annotations.find(kKey);
  if (found == block.annotations.end()) return AttrList{ToNote(note)};
  const AttrList* old = found->second.list();
  bool replaced = false, fits = old;
  for (size_t i = 0; fits && i < old->size(); ++i) {
    const auto numbers = Numbers((*old)[i]);
    fits = numbers.has_value();
    if (!fits) break;
    const bool same = (*numbers)[0] == note[0] && (*numbers)[1] == note[1];
    notes.push_back(ToNote(same ? note : *numbers));
    replaced |= same;
  }
  if (!fits) {
    return Refusal(kName,
                   absl::StrCat(Describe(block), " has annotation `", kKey,
                                "` with something else than strides"),
                   "unannotate it first");
  }
  if (!replaced) notes.push_back(ToNote(note));
  return notes;
}

// Whether the block asks for a stride of that axis of the tensor that differs
// from the one of `note`.
bool Contradicts(const BlockNode& block, const Buffer& buffer,
                 const std::vector<int64_t>& note) {
  const auto found = block.annotations.find(kKey);
  if (found == block.annotations.end()) return false;
  const AttrList* list = found->second.list();
  if (!list) return false;
  return std::any_of(list->begin(), list->end(), [&](const Attr& item) {
    const auto numbers = Numbers(item);
    if (!numbers) return false;
    const int64_t tensor = (*numbers)[0];
    return tensor >= 0 && tensor < static_cast<int64_t>(block.writes.size()) &&
           block.writes[tensor].buffer == buffer && (*numbers)[1] == note[1] &&
           ((*numbers)[2] != note[2] || (*numbers)[3] != note[3]);
  });
}

// A tensor has one stride for each axis, whichever of its blocks asks for it.
absl::Status CheckOthers(const Function& f, const BlockNode& block,
                         const std::vector<int64_t>& note) {
  const Buffer& buffer = block.writes[note[0]].buffer;
  const BlockNode* other = nullptr;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize && realize->block.get() != &block &&
        Contradicts(*realize->block, buffer, note)) {
      other = realize->block.get();
    }
    return !other;
  });
  if (!other) return absl::OkStatus();
  return Refusal(
      kName,
      absl::StrCat(Describe(*other), " asks for another stride of axis ",
                   note[1], " of `", buffer->name, "`"),
      absl::StrCat("unannotate `", kKey, "` there first"));
}

}  // namespace

absl::StatusOr<Function> StorageAlign(const Function& f, BlockId id,
                                      int buffer_index, int64_t axis,
                                      int64_t factor, int64_t offset) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, id, kName));
  const BlockNode& block = *path.realize()->block;
  KILN_RETURN_IF_ERROR(Check(f, block, buffer_index, factor, offset));
  const auto rank =
      static_cast<int64_t>(block.writes[buffer_index].buffer->shape.size());
  if (axis < -rank || axis >= rank) {
    return BadArgument(kName, absl::StrCat("axis ", axis, " is not in [", -rank,
                                           ", ", rank, ")"));
  }
  if (axis < 0) axis += rank;
  const std::vector<int64_t> note = {buffer_index, axis, factor, offset};
  KILN_RETURN_IF_ERROR(CheckOthers(f, block, note));
  BlockFields fields = block.fields();
  KILN_ASSIGN_OR_RETURN(AttrList notes, WithNote(block, note));
  fields.annotations[kKey] = Attr(std::move(notes));
  return ReplaceAt(f, path, WithBlock(*path.realize(), std::move(fields)));
}

}  // namespace kiln
