// Calls of functions that the object leaves undefined, by their C name:
//   T.call_pure_extern("float32", "gain", x, 3)  ->  float gain(float, int32_t)
// Whoever loads or links the object provides them (ObjectLoadOptions::symbols).
// Arguments and results are C's: numbers of 8 to 64 bits, bool, float, double,
// and no result. Addresses are refused: what a function did to a tensor behind
// the back of the program, no analysis would know of.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/llvm/emitter.h"

namespace kiln::codegen_internal {
namespace {

bool IsPassedInC(DType dtype) {
  if (!dtype.is_scalar()) return false;
  if (dtype.is_float()) return dtype.bits() >= 32;
  return dtype.is_integral();
}

// Names that neither LLVM nor an object gives a meaning of its own.
bool IsFreeName(const std::string& name) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && !is_digit(name[0]) && name.rfind("kiln_", 0) != 0 &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || is_digit(c); });
}

// Callers extend what is narrower than an int.
llvm::Attribute::AttrKind Extension(DType dtype) {
  if (dtype.is_float() || dtype.bits() >= 32) return llvm::Attribute::None;
  return dtype.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
}

absl::Status CheckExtern(const CallNode& call, const std::string& name) {
  const std::string where = absl::StrCat(
      "T.", std::string(GetIntrinsicInfo(call.op).name), " of \"", name, "\" ");
  if (!IsFreeName(name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        where,
        "names no function of C: letters, digits and _, and no kiln_ in "
        "front"));
  }
  if (!call.dtype.is_void() && !IsPassedInC(call.dtype)) {
    return absl::UnimplementedError(absl::StrCat(
        where, "returns ", call.dtype.ToString(),
        "; it can return integers, bool, float32, float64 or nothing"));
  }
  for (size_t i = 1; i < call.args.size(); ++i) {
    if (IsPassedInC(call.args[i].dtype())) continue;
    return absl::UnimplementedError(absl::StrCat(
        where, "passes ", call.args[i].dtype().ToString(), " as argument ",
        i - 1, "; it can pass integers, bool, float32 and float64"));
  }
  return absl::OkStatus();
}

}  // namespace

llvm::Value* Emitter::EmitExtern(const CallNode& call) {
  const auto* name =
      call.args.empty() ? nullptr : call.args[0].As<StringImmNode>();
  const absl::Status status = CheckExtern(call, name ? name->value : "");
  if (!status.ok()) {
    return Fail(status, call.dtype.is_void() ? DType::Bool() : call.dtype);
  }
  std::vector<llvm::Type*> types;
  std::vector<llvm::Value*> values;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const bool is_bool = call.args[i].dtype().is_bool();
    llvm::Value* value = Emit(call.args[i]);
    if (is_bool) value = b_.CreateZExt(value, b_.getInt8Ty());
    types.push_back(value->getType());
    values.push_back(value);
  }
  llvm::CallInst* result = b_.CreateCall(
      module_->getOrInsertFunction(
          name->value,
          llvm::FunctionType::get(MemoryType(call.dtype), types, false)),
      values);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto extension = Extension(call.args[i + 1].dtype());
    if (extension != llvm::Attribute::None) result->addParamAttr(i, extension);
  }
  if (call.dtype.is_void()) return result;
  const auto extension = Extension(call.dtype);
  if (extension != llvm::Attribute::None) result->addRetAttr(extension);
  return call.dtype.is_bool() ? b_.CreateTrunc(result, b_.getInt1Ty()) : result;
}

}  // namespace kiln::codegen_internal
