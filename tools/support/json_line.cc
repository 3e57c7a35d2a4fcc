#include "kiln/tools/support/json_line.h"

#include <cmath>

#include "kiln/base/check.h"
#include "kiln/base/json.h"

namespace kiln {

std::string JsonLine(const google::protobuf::Message& message) {
  const absl::StatusOr<std::string> line =
      ToJson(message, JsonDefaults::kWritten);
  KILN_CHECK(line.ok()) << line.status().message();
  return *line + "\n";
}

double Rounded(double value, int digits) {
  const double unit = std::pow(10, digits);
  return std::round(value * unit) / unit;
}

}  // namespace kiln
