// Messages of protobuf as JSON, and back: the one way, so that all files and
// reports spell fields alike.
#ifndef KILN_BASE_JSON_H_
#define KILN_BASE_JSON_H_

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln {

// What becomes of fields that hold 0, "" or nothing.
enum class JsonDefaults {
  kLeftOut,  // files that grow long
  kWritten,  // reports, whose readers look fields up without asking
};

// One line without its end, with fields under the names of the .proto file.
// Strings have to be UTF-8. kInternal where protobuf refuses the message.
absl::StatusOr<std::string> ToJson(const google::protobuf::Message& message,
                                   JsonDefaults defaults);

enum class JsonUnknownFields { kRefused, kPassedOver };

// Fills `message`; kInvalidArgument with protobuf's reason and the place.
absl::Status FromJson(std::string_view json, google::protobuf::Message* message,
                      JsonUnknownFields unknown = JsonUnknownFields::kRefused);

}  // namespace kiln

#endif  // KILN_BASE_JSON_H_
