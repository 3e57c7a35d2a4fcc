#include "kiln/ir/ops/script.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

std::string Indented(std::string_view body) {
  std::string text;
  for (absl::string_view line :
       absl::StrSplit(absl::string_view(body.data(), body.size()), '\n')) {
    if (!line.empty()) absl::StrAppend(&text, "    ", line, "\n");
  }
  return text;
}

}  // namespace

std::string Script::Spelled(const Expr& extent) {
  if (const int64_t* value = AsInt(extent)) return absl::StrCat(*value);
  const auto* var = extent.As<VarNode>();
  if (!var) {
    is_spelled_ = false;
    return "0";
  }
  auto at = std::find(dims_.begin(), dims_.end(), var);
  if (at == dims_.end()) at = dims_.insert(at, var);
  return absl::StrCat("d", at - dims_.begin());
}

Script& Script::Param(std::string name, const std::vector<Expr>& extents,
                      DType dtype) {
  std::string shape;
  for (const Expr& extent : extents) {
    absl::StrAppend(&shape, Spelled(extent), ", ");
  }
  absl::StrAppend(&header_, header_.empty() ? "" : ", ", "var_", name,
                  ": T.handle");
  absl::StrAppend(&matches_, "    ", name, " = T.match_buffer(var_", name,
                  ", (", shape, "), \"", dtype.ToString(), "\")\n");
  return *this;
}

Script& Script::Set(std::string name, std::string text) {
  values_.emplace_back("$" + std::move(name), std::move(text));
  return *this;
}

Script& Script::Set(std::string name, int64_t value) {
  return Set(std::move(name), absl::StrCat(value));
}

Script& Script::Set(std::string name, const Expr& extent) {
  return Set(std::move(name), Spelled(extent));
}

std::string Script::RealText(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.17g", value);
  std::string real = text;
  if (real.find_first_of(".en") == std::string::npos) real += ".0";
  return real;
}

Script& Script::SetReal(std::string name, double value) {
  return Set(std::move(name), RealText(value));
}

absl::StatusOr<Function> Script::Read(std::string_view body) const {
  if (!is_spelled_) {
    return absl::UnimplementedError("extents that are sums or products");
  }
  std::string dims;
  for (size_t i = 0; i < dims_.size(); ++i) {
    absl::StrAppend(&dims, "    d", i, " = T.int64()\n");
  }
  const std::string filled =
      absl::StrReplaceAll(absl::string_view(body.data(), body.size()), values_);
  return ParseFunction(
      "lowered", absl::StrCat("@T.prim_func(private=True)\ndef main(", header_,
                              "):\n", dims, matches_, Indented(filled)));
}

}  // namespace kiln
