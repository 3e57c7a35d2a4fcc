#include "kiln/search/cost/trees.h"

#include <xgboost/c_api.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

absl::Status Check(int result) {
  if (result == 0) return absl::OkStatus();
  const std::string message = XGBGetLastError();
  return absl::InternalError(
      absl::StrCat("XGBoost: ", message.substr(0, message.find('\n'))));
}

// XGBoost's seeds are ints.
constexpr uint64_t kMostSeed = 1000000007;

std::string ArrayInterface(absl::Span<const float> values, int columns) {
  return absl::StrFormat(
      R"({"data":[%d,true],"shape":[%d,%d],"typestr":"<f4","version":3})",
      reinterpret_cast<uintptr_t>(values.data()), values.size() / columns,
      columns);
}

absl::Status SetParameters(BoosterHandle booster, const TreeOptions& options) {
  const std::pair<const char*, std::string> parameters[] = {
      {"num_feature", absl::StrCat(options.columns)},
      {"seed", absl::StrCat(options.seed % kMostSeed)},
      {"verbosity", "0"},
      {"nthread", "1"},
      {"tree_method", "hist"},
      {"base_score", "0"},
      {"gamma", "0.001"},
      {"colsample_bytree", absl::StrCat(options.columns_per_tree)},
      {"max_depth", absl::StrCat(options.max_depth)},
      {"eta", absl::StrCat(options.eta)},
      {"min_child_weight", absl::StrCat(options.min_child_weight)},
      {"lambda", absl::StrCat(options.lambda)},
  };
  for (const auto& [name, value] : parameters) {
    KILN_RETURN_IF_ERROR(
        Check(XGBoosterSetParam(booster, name, value.c_str())));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Trees>> Trees::Create(
    const TreeOptions& options) {
  std::unique_ptr<Trees> trees(new Trees());
  trees->columns_ = options.columns;
  KILN_RETURN_IF_ERROR(Check(XGBoosterCreate(nullptr, 0, &trees->booster_)));
  KILN_RETURN_IF_ERROR(SetParameters(trees->booster_, options));
  return trees;
}

Trees::~Trees() {
  Stop();
  if (booster_) XGBoosterFree(booster_);
}

absl::Status Trees::Start(absl::Span<const float> values) {
  rows_ = values.size() / columns_;
  return Check(XGDMatrixCreateFromMat(values.data(), rows_, columns_,
                                      std::numeric_limits<float>::quiet_NaN(),
                                      &matrix_));
}

void Trees::Stop() {
  if (matrix_) XGDMatrixFree(matrix_);
  matrix_ = nullptr;
}

absl::StatusOr<std::vector<float>> Trees::Margins() {
  const char config[] =
      R"({"type":1,"training":true,"iteration_begin":0,"iteration_end":0,)"
      R"("strict_shape":false})";
  const bst_ulong* shape = nullptr;
  bst_ulong dims = 0;
  const float* result = nullptr;
  KILN_RETURN_IF_ERROR(Check(XGBoosterPredictFromDMatrix(
      booster_, matrix_, config, &shape, &dims, &result)));
  return std::vector<float>(result, result + rows_);
}

absl::Status Trees::AddTree(Gradients* gradients) {
  return Check(XGBoosterBoostOneIter(booster_, matrix_, gradients->first.data(),
                                     gradients->second.data(), rows_));
}

absl::StatusOr<std::vector<float>> Trees::Predict(
    absl::Span<const float> values) const {
  if (values.empty()) return std::vector<float>();
  const char config[] =
      R"({"type":1,"training":false,"iteration_begin":0,"iteration_end":0,)"
      R"("strict_shape":false,"missing":NaN,"cache_id":0})";
  const bst_ulong* shape = nullptr;
  bst_ulong dims = 0;
  const float* result = nullptr;
  KILN_RETURN_IF_ERROR(Check(XGBoosterPredictFromDense(
      booster_, ArrayInterface(values, columns_).c_str(), config, nullptr,
      &shape, &dims, &result)));
  return std::vector<float>(result, result + values.size() / columns_);
}

absl::StatusOr<std::string> Trees::Serialize() const {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  KILN_RETURN_IF_ERROR(Check(XGBoosterSaveModelToBuffer(
      booster_, R"({"format":"ubj"})", &size, &bytes)));
  return std::string(bytes, size);
}

absl::Status Trees::Deserialize(const std::string& bytes) {
  return Check(
      XGBoosterLoadModelFromBuffer(booster_, bytes.data(), bytes.size()));
}

}  // namespace kiln
