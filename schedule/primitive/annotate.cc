#include "kiln/schedule/primitive/annotate.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/same.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

using Change = FunctionRef<absl::Status(Annotations*, const std::string&)>;

bool SameAttr(const Attr& a, const Attr& b);

bool SameList(const AttrList& a, const AttrList& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameAttr(a[i], b[i])) return false;
  }
  return true;
}

bool SameMap(const AttrMap& a, const AttrMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a) {
    const auto found = b.find(key);
    if (found == b.end() || !SameAttr(value, found->second)) return false;
  }
  return true;
}

bool SameAttr(const Attr& a, const Attr& b) {
  if (a.value.index() != b.value.index()) return false;
  if (a.expr()) return SameExpr(*a.expr(), *b.expr());
  if (a.string()) return *a.string() == *b.string();
  if (a.list()) return SameList(*a.list(), *b.list());
  if (a.map()) return SameMap(*a.map(), *b.map());
  return true;
}

absl::Status Add(Annotations* annotations, const std::string& what,
                 const std::string& key, const Attr& value) {
  const auto [at, is_new] = annotations->emplace(key, value);
  if (is_new || SameAttr(at->second, value)) return absl::OkStatus();
  return Refusal("annotate",
                 absl::StrCat(what, " has another value for `", key, "`"),
                 "unannotate it first");
}

absl::Status Remove(Annotations* annotations, const std::string& what,
                    const std::string& key) {
  if (annotations->erase(key) == 1) return absl::OkStatus();
  return Refusal("unannotate",
                 absl::StrCat(what, " has no annotation `", key, "`"));
}

absl::StatusOr<Function> ChangeLoop(const Function& f, LoopId loop,
                                    const char* primitive, Change change) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, loop, primitive));
  ForFields fields = path.loop()->fields();
  KILN_RETURN_IF_ERROR(change(&fields.annotations, Describe(*path.loop())));
  return ReplaceAt(f, path, MakeFor(std::move(fields)));
}

absl::StatusOr<Function> ChangeBlock(const Function& f, BlockId block,
                                     const char* primitive, Change change) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, primitive));
  const BlockRealizeNode& realize = *path.realize();
  BlockFields fields = realize.block->fields();
  KILN_RETURN_IF_ERROR(change(&fields.annotations, Describe(*realize.block)));
  return ReplaceAt(f, path, WithBlock(realize, std::move(fields)));
}

}  // namespace

absl::StatusOr<Function> AnnotateLoop(const Function& f, LoopId loop,
                                      const std::string& key,
                                      const Attr& value) {
  return ChangeLoop(f, loop, "annotate", [&](auto* notes, const auto& what) {
    return Add(notes, what, key, value);
  });
}

absl::StatusOr<Function> AnnotateBlock(const Function& f, BlockId block,
                                       const std::string& key,
                                       const Attr& value) {
  return ChangeBlock(f, block, "annotate", [&](auto* notes, const auto& what) {
    return Add(notes, what, key, value);
  });
}

absl::StatusOr<Function> UnannotateLoop(const Function& f, LoopId loop,
                                        const std::string& key) {
  return ChangeLoop(f, loop, "unannotate", [&](auto* notes, const auto& what) {
    return Remove(notes, what, key);
  });
}

absl::StatusOr<Function> UnannotateBlock(const Function& f, BlockId block,
                                         const std::string& key) {
  return ChangeBlock(
      f, block, "unannotate",
      [&](auto* notes, const auto& what) { return Remove(notes, what, key); });
}

}  // namespace kiln
