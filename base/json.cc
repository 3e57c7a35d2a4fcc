#include "kiln/base/json.h"

#include <google/protobuf/util/json_util.h>

namespace kiln {

absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message,
                                   JsonDefaults defaults) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = defaults == JsonDefaults::kWritten;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!status.ok()) return absl::InternalError(std::string(status.message()));
  return json;
}

absl::Status FromJson(std::string_view json, google::protobuf::Message* message,
                      JsonUnknownFields unknown) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = unknown == JsonUnknownFields::kPassedOver;
  const auto status = google::protobuf::util::JsonStringToMessage(
      std::string(json), message, options);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string(status.message()));
}

}  // namespace kiln
