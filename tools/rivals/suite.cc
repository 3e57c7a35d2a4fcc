#include "kiln/tools/rivals/suite.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/te/workloads.h"

namespace kiln::bench {
namespace {

constexpr int64_t kMaxExtent = 1 << 20;

absl::StatusOr<SuiteCase> ReadGemm(const std::string& text) {
  SuiteCase one{"gmm", {}};
  for (const auto part : absl::StrSplit(text, 'x')) {
    int64_t extent;
    if (!absl::SimpleAtoi(part, &extent) || extent < 1 || extent > kMaxExtent) {
      one.dims.clear();
      break;
    }
    one.dims.push_back(extent);
  }
  if (one.dims.size() == 3) return one;
  return absl::InvalidArgumentError(absl::StrCat(
      "--shapes: \"", text, "\" is not what is wanted, such as 512x512x512"));
}

std::string KnownNames() {
  std::vector<std::string> names;
  for (const WorkloadInfo& info : Workloads()) names.push_back(info.name);
  return absl::StrJoin(names, ",");
}

// All shapes of a workload.
absl::Status AddWorkload(const std::string& name,
                         std::vector<SuiteCase>* suite) {
  for (const WorkloadInfo& info : Workloads()) {
    if (info.name != name) continue;
    for (const auto& dims : info.shapes) suite->push_back({name, dims});
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--only: there is no workload \"", name, "\"; there are ", KnownNames()));
}

// "c2d:56,56,64,64,1,1,0".
absl::Status AddSpec(const std::string& spec, std::vector<SuiteCase>* suite) {
  const absl::Status known = MakeWorkload(spec).status();
  if (!known.ok()) {
    return absl::Status(known.code(),
                        absl::StrCat("--only: ", std::string(known.message())));
  }
  const size_t colon = spec.find(':');
  SuiteCase one{spec.substr(0, colon), {}};
  for (const auto part : absl::StrSplit(spec.substr(colon + 1), ',')) {
    int64_t extent = 0;
    if (absl::SimpleAtoi(part, &extent)) one.dims.push_back(extent);
  }
  suite->push_back(std::move(one));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SuiteCase>> GemmSuite(const std::string& shapes) {
  std::vector<SuiteCase> suite;
  for (const auto part : absl::StrSplit(shapes, ',')) {
    KILN_ASSIGN_OR_RETURN(SuiteCase one, ReadGemm(std::string(part)));
    suite.push_back(std::move(one));
  }
  return suite;
}

absl::StatusOr<std::vector<SuiteCase>> AnsorSuite(const std::string& only) {
  std::vector<SuiteCase> suite;
  const std::string wanted = only.empty() ? KnownNames() : only;
  for (const auto part : absl::StrSplit(wanted, ';')) {
    const std::string text(part);
    if (text.find(':') != std::string::npos) {
      KILN_RETURN_IF_ERROR(AddSpec(text, &suite));
      continue;
    }
    for (const auto name : absl::StrSplit(text, ',')) {
      KILN_RETURN_IF_ERROR(AddWorkload(std::string(name), &suite));
    }
  }
  return suite;
}

}  // namespace kiln::bench
