#include "kiln/ir/type/dtype.h"

#include <charconv>

namespace kiln {
namespace {

struct Prefix {
  std::string_view name;
  TypeCode code;
};

constexpr Prefix kSized[] = {{"int", TypeCode::kInt},
                             {"uint", TypeCode::kUInt},
                             {"float", TypeCode::kFloat},
                             {"bfloat", TypeCode::kBFloat}};

// Takes a decimal number off the front of `text`; nullopt if there is none.
std::optional<int> TakeNumber(std::string_view& text) {
  int value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() || value < 0) {
    return std::nullopt;
  }
  text.remove_prefix(end - text.data());
  return value;
}

bool ValidWidth(TypeCode code, int bits) {
  switch (code) {
    case TypeCode::kInt:
    case TypeCode::kUInt:
      return bits == 8 || bits == 16 || bits == 32 || bits == 64;
    case TypeCode::kFloat:
      return bits == 16 || bits == 32 || bits == 64;
    case TypeCode::kBFloat:
      return bits == 16;
    case TypeCode::kBool:
    case TypeCode::kHandle:
    case TypeCode::kVoid:
      return false;
  }
  return false;
}

std::optional<DType> WithLaneSuffix(DType scalar, std::string_view rest) {
  if (rest.empty()) return scalar;
  if (rest[0] != 'x') return std::nullopt;
  rest.remove_prefix(1);
  std::optional<int> lanes = TakeNumber(rest);
  if (!lanes || !rest.empty() || *lanes < 1 || *lanes > 4096) {
    return std::nullopt;
  }
  return scalar.WithLanes(*lanes);
}

}  // namespace

std::optional<DType> DType::FromString(std::string_view name) {
  if (name == "handle") return Handle();
  if (name == "void") return Void();
  if (name.substr(0, 4) == "bool") {
    return WithLaneSuffix(Bool(), name.substr(4));
  }
  for (const Prefix& prefix : kSized) {
    if (name.substr(0, prefix.name.size()) != prefix.name) continue;
    std::string_view rest = name.substr(prefix.name.size());
    std::optional<int> bits = TakeNumber(rest);
    if (!bits || !ValidWidth(prefix.code, *bits)) return std::nullopt;
    return WithLaneSuffix(DType(prefix.code, *bits), rest);
  }
  return std::nullopt;
}

std::string DType::ToString() const {
  std::string text;
  switch (code_) {
    case TypeCode::kHandle:
      return "handle";
    case TypeCode::kVoid:
      return "void";
    case TypeCode::kBool:
      text = "bool";
      break;
    case TypeCode::kInt:
    case TypeCode::kUInt:
    case TypeCode::kFloat:
    case TypeCode::kBFloat:
      text = kSized[static_cast<int>(code_)].name;
      text += std::to_string(bits_);
      break;
  }
  if (lanes_ > 1) text += "x" + std::to_string(lanes_);
  return text;
}

}  // namespace kiln
