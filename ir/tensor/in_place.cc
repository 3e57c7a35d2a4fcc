#include "kiln/ir/tensor/in_place.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/same.h"

namespace kiln {
namespace {

absl::Status Invalid(const Function& f, const std::string& reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      "function ", f.name, ": ", kInPlaceBuffers, " ", reason,
      "; it is a list of pairs [read, written] of positions among the ",
      f.params.size(), " parameters, from 0 on"));
}

std::optional<InPlacePair> PairOf(const Attr& item) {
  const AttrList* two = item.list();
  if (!two || two->size() != 2) return std::nullopt;
  const auto number = [&](int i) {
    return (*two)[i].expr() ? AsInt(*(*two)[i].expr()) : nullptr;
  };
  if (!number(0) || !number(1)) return std::nullopt;
  return InPlacePair{static_cast<int>(*number(0)),
                     static_cast<int>(*number(1))};
}

bool AreAlike(const Buffer& a, const Buffer& b) {
  return a->dtype == b->dtype &&
         std::equal(a->shape.begin(), a->shape.end(), b->shape.begin(),
                    b->shape.end(), SameExpr);
}

absl::Status Check(const Function& f, const InPlacePair& pair) {
  const auto buffer = [&](int at) {
    return at >= 0 && at < static_cast<int>(f.params.size())
               ? f.params[at].buffer
               : Buffer();
  };
  const Buffer read = buffer(pair.read), written = buffer(pair.written);
  if (!read || !written || read == written) {
    return Invalid(f, absl::StrCat("lists [", pair.read, ", ", pair.written,
                                   "], which are no two tensors"));
  }
  if (!AreAlike(read, written)) {
    return Invalid(f, absl::StrCat("lists ", read->name, " and ", written->name,
                                   ", which differ in type or shape"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<InPlacePair>> InPlacePairs(const Function& f) {
  std::vector<InPlacePair> pairs;
  const auto found = f.attrs.find(kInPlaceBuffers);
  if (found == f.attrs.end()) return pairs;
  const AttrList* list = found->second.list();
  if (!list) return Invalid(f, "is no list");
  for (const Attr& item : *list) {
    const std::optional<InPlacePair> pair = PairOf(item);
    if (!pair) return Invalid(f, "holds what is no pair of numbers");
    KILN_RETURN_IF_ERROR(Check(f, *pair));
    const bool is_taken =
        std::any_of(pairs.begin(), pairs.end(),
                    [&](const auto& p) { return p.read == pair->read; });
    if (is_taken) {
      return Invalid(
          f, absl::StrCat("lists ", pair->read, " twice as what is read"));
    }
    pairs.push_back(*pair);
  }
  return pairs;
}

std::vector<InPlacePair> MovedPairs(const std::vector<InPlacePair>& pairs,
                                    const std::vector<int>& args) {
  std::vector<InPlacePair> moved;
  for (const InPlacePair& pair : pairs) {
    const auto read = std::find(args.begin(), args.end(), pair.read);
    const auto written = std::find(args.begin(), args.end(), pair.written);
    if (read == args.end() || written == args.end()) continue;
    moved.push_back({static_cast<int>(read - args.begin()),
                     static_cast<int>(written - args.begin())});
  }
  return moved;
}

void SetInPlacePairs(Function* f, const std::vector<InPlacePair>& pairs) {
  AttrList list;
  for (const InPlacePair& pair : pairs) {
    list.push_back(
        Attr(AttrList{Attr(Int(pair.read)), Attr(Int(pair.written))}));
  }
  if (list.empty()) {
    f->attrs.erase(kInPlaceBuffers);
  } else {
    f->attrs[kInPlaceBuffers] = Attr(std::move(list));
  }
}

}  // namespace kiln
