#include "kiln/ir/tensor/timed_size.h"

#include <cstddef>
#include <utility>

#include "kiln/base/check.h"
#include "kiln/ir/tensor/dims.h"

namespace kiln {
namespace {

// Numbers from 0 on.
std::optional<DimSize> ToSize(const AttrList& list) {
  DimSize size;
  for (const Attr& item : list) {
    const int64_t* value = item.expr() ? AsInt(*item.expr()) : nullptr;
    if (!value || *value < 0) return std::nullopt;
    size.push_back(*value);
  }
  return size;
}

AttrList ToList(const DimSize& size) {
  AttrList list;
  for (int64_t value : size) list.push_back(Attr(Int(value)));
  return list;
}

}  // namespace

Function AtSize(const Function& f, const DimSize& size) {
  const std::vector<Var> dims = SymbolicDims(f);
  KILN_CHECK_EQ(dims.size(), size.size());
  VarMap map;
  for (size_t i = 0; i < dims.size(); ++i) {
    map[dims[i].get()] = Int(size[i], dims[i].dtype());
  }
  return SubstituteDims(f, map);
}

std::optional<DimSize> TimedSize(const Function& f) {
  const auto found = f.attrs.find(kTimedSize);
  const AttrList* list =
      found == f.attrs.end() ? nullptr : found->second.list();
  if (!list || list->size() != SymbolicDims(f).size()) return std::nullopt;
  return ToSize(*list);
}

void SetTimedSize(Function* f, const DimSize& size) {
  if (size.empty()) {
    f->attrs.erase(kTimedSize);
    return;
  }
  f->attrs[kTimedSize] = Attr(ToList(size));
}

Function AtTimedSize(const Function& f) {
  const std::optional<DimSize> size = TimedSize(f);
  if (!size) return f;
  Function known = AtSize(f, *size);
  known.attrs.erase(kTimedSize);
  return known;
}

std::vector<DimSize> TimedSizes(const Module& module) {
  const auto found = module.attrs.find(kTimedSizes);
  const AttrList* list =
      found == module.attrs.end() ? nullptr : found->second.list();
  std::vector<DimSize> sizes;
  for (size_t i = 0; list && i < list->size(); ++i) {
    const AttrList* numbers = (*list)[i].list();
    std::optional<DimSize> size = numbers ? ToSize(*numbers) : std::nullopt;
    if (!size) return {};
    sizes.push_back(*std::move(size));
  }
  return sizes;
}

void SetTimedSizes(Module* module, const std::vector<DimSize>& sizes) {
  AttrList list;
  for (const DimSize& size : sizes) list.push_back(Attr(ToList(size)));
  module->attrs[kTimedSizes] = Attr(std::move(list));
}

}  // namespace kiln
