#include "kiln/ir/tensor/marks.h"

#include <string>
#include <utility>

namespace kiln {

namespace {

bool HasMark(const Annotations& annotations, std::string_view mark) {
  if (annotations.empty()) return false;
  const auto found = annotations.find(std::string(mark));
  if (found == annotations.end() || !found->second.expr()) return false;
  const int64_t* value = AsInt(*found->second.expr());
  return value && *value != 0;
}

}  // namespace

bool IsMarked(const BlockNode& block, std::string_view mark) {
  return HasMark(block.annotations, mark);
}

bool IsMarked(const ForNode& loop, std::string_view mark) {
  return HasMark(loop.annotations, mark);
}

bool IsMarked(const Function& f, std::string_view mark) {
  const auto found = f.attrs.find(std::string(mark));
  return found != f.attrs.end() && found->second.list();
}

void HandOnMarks(const BlockNode& block, Function* f) {
  for (const char* mark : {kPhases, kTransposedCopy, kLaneSums}) {
    if (!IsMarked(block, mark)) continue;
    Attr& attr = f->attrs[mark];
    AttrList names = attr.list() ? *attr.list() : AttrList();
    names.emplace_back(block.name);
    attr = Attr(std::move(names));
  }
}

void IgnoreMark(Function* f, std::string_view mark, std::string_view reason) {
  f->attrs[std::string(mark)] = Attr("ignored: " + std::string(reason));
}

}  // namespace kiln
