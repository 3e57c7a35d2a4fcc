#include "kiln/tools/support/json_line.h"

#include <google/protobuf/util/json_util.h>

#include <cmath>

#include "kiln/base/check.h"

namespace kiln {

std::string JsonLine(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string line;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &line, options);
  KILN_CHECK(status.ok()) << std::string(status.message());
  return line + "\n";
}

double Rounded(double value, int digits) {
  const double unit = std::pow(10, digits);
  return std::round(value * unit) / unit;
}

}  // namespace kiln
