#include "kiln/ir/tensor/layout_free.h"

#include <algorithm>
#include <cstdint>

namespace kiln {
namespace {

bool IsTrue(const AttrMap& attrs, const char* key) {
  const auto found = attrs.find(key);
  if (found == attrs.end() || !found->second.expr()) return false;
  const int64_t* value = AsInt(*found->second.expr());
  return value && *value != 0;
}

// The positions of tensor parameters that an attribute lists.
std::vector<int> ParamsListed(const Function& f, const char* key) {
  std::vector<int> params;
  const auto found = f.attrs.find(key);
  const AttrList* list =
      found == f.attrs.end() ? nullptr : found->second.list();
  if (!list) return params;
  for (const Attr& item : *list) {
    const int64_t* index = item.expr() ? AsInt(*item.expr()) : nullptr;
    if (!index || *index < 0) continue;
    const auto at = static_cast<size_t>(*index);
    if (at < f.params.size() && f.params[at].buffer) {
      params.push_back(static_cast<int>(at));
    }
  }
  return params;
}

void ListParams(Function* f, const char* key, const std::vector<int>& params) {
  AttrList list;
  for (int param : params) list.push_back(Attr(Int(param)));
  f->attrs[key] = Attr(std::move(list));
}

}  // namespace

std::vector<int> LayoutFreeParams(const Function& f) {
  return ParamsListed(f, kLayoutFreeBuffers);
}

bool IsLayoutFree(const Function& f, const Buffer& buffer) {
  const std::vector<int> params = LayoutFreeParams(f);
  return std::any_of(params.begin(), params.end(), [&](int param) {
    return f.params[param].buffer == buffer;
  });
}

void SetLayoutFree(Function* f, const std::vector<int>& params) {
  ListParams(f, kLayoutFreeBuffers, params);
}

bool HasColdConstants(const Function& f) {
  return IsTrue(f.attrs, kColdConstants);
}

std::vector<int> ColdParams(const Function& f) {
  return HasColdConstants(f) ? LayoutFreeParams(f)
                             : ParamsListed(f, kColdParams);
}

void SetColdParams(Function* f, const std::vector<int>& params) {
  ListParams(f, kColdParams, params);
}

bool IsLayoutPreparation(const BlockNode& block) {
  return IsTrue(block.annotations, kLayoutPreparation);
}

}  // namespace kiln
