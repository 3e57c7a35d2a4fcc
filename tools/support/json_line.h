// A message of protobuf as one line of JSON.
#ifndef KILN_TOOLS_SUPPORT_JSON_LINE_H_
#define KILN_TOOLS_SUPPORT_JSON_LINE_H_

#include <google/protobuf/message.h>

#include <string>

namespace kiln {

// Fields under the names of the .proto file, those with default values too; its
// end included. Strings have to be UTF-8.
std::string JsonLine(const google::protobuf::Message& message);

// The number with so many digits after the point, for rows that people read.
double Rounded(double value, int digits);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_JSON_LINE_H_
