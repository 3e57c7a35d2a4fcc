#include "kiln/ir/text/python/arguments.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"

namespace kiln::python {

std::string Arguments::Callee() const {
  std::string name = DottedName(call_->items[0]);
  return name.empty() ? "this call" : absl::StrCat("`", name, "`");
}

absl::StatusOr<Arguments> Arguments::Bind(
    const Source& source, const Expr& call,
    std::initializer_list<std::string_view> names) {
  Arguments bound(source, call);
  std::vector<std::string_view> known(names);
  bool variadic = !known.empty() && known.back() == "*";
  if (variadic) known.pop_back();
  size_t next = 0;
  for (size_t i = 1; i < call.items.size(); ++i) {
    const Expr& argument = call.items[i];
    if (argument.kind == ExprKind::kKeyword) {
      KILN_RETURN_IF_ERROR(bound.Named(argument, known));
      continue;
    }
    if (argument.kind != ExprKind::kStarred) {
      KILN_RETURN_IF_ERROR(bound.Positional(argument, known, variadic, next));
      continue;
    }
    const Expr& inner = argument.items[0];
    if (argument.text != "*" ||
        (inner.kind != ExprKind::kTuple && inner.kind != ExprKind::kList)) {
      return source.Error(argument.begin,
                          "only a list or a tuple can be spread here");
    }
    for (const Expr& item : inner.items) {
      KILN_RETURN_IF_ERROR(bound.Positional(item, known, variadic, next));
    }
  }
  return bound;
}

absl::Status Arguments::Positional(const Expr& argument,
                                   const std::vector<std::string_view>& names,
                                   bool variadic, size_t& next) {
  if (next < names.size()) {
    given_[std::string(names[next++])] = &argument;
  } else if (variadic) {
    rest_.push_back(&argument);
  } else {
    return source_->Error(
        argument.begin,
        absl::StrCat(Callee(), " takes at most ", names.size(),
                     names.size() == 1 ? " argument" : " arguments",
                     names.empty() ? "" : ": ",
                     absl::StrJoin(names, ", ",
                                   [](std::string* out, std::string_view name) {
                                     out->append(name);
                                   })));
  }
  return absl::OkStatus();
}

absl::Status Arguments::Named(const Expr& argument,
                              const std::vector<std::string_view>& names) {
  if (std::find(names.begin(), names.end(), argument.text) == names.end()) {
    std::string list = absl::StrJoin(
        names, ", ",
        [](std::string* out, std::string_view name) { out->append(name); });
    return source_->Error(
        argument.begin,
        absl::StrCat(Callee(), " has no parameter `", argument.text, "`; it ",
                     list.empty() ? "takes none" : "knows " + list));
  }
  if (!given_.emplace(argument.text, &argument.items[0]).second) {
    return source_->Error(argument.begin,
                          absl::StrCat("`", argument.text, "` is given twice"));
  }
  return absl::OkStatus();
}

const Expr* Arguments::Get(std::string_view name) const {
  auto found = given_.find(name);
  return found == given_.end() ? nullptr : found->second;
}

const Expr* Arguments::GetUnlessNone(std::string_view name) const {
  const Expr* argument = Get(name);
  bool none = argument != nullptr && argument->kind == ExprKind::kNone;
  return none ? nullptr : argument;
}

absl::StatusOr<const Expr*> Arguments::Require(std::string_view name) const {
  if (const Expr* argument = Get(name)) return argument;
  return source_->Error(call_->begin,
                        absl::StrCat(Callee(), " needs an argument for `",
                                     std::string(name), "`"));
}

}  // namespace kiln::python
