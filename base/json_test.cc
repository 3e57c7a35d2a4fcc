#include "kiln/base/json.h"

#include <gmock/gmock.h>
#include <google/protobuf/type.pb.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::google::protobuf::Field;
using ::testing::HasSubstr;

TEST(JsonTest, FieldsHaveTheNamesOfTheProtoFile) {
  Field field;
  field.set_type_url("a\"b");
  field.set_number(3);
  KILN_ASSERT_OK_AND_ASSIGN(const std::string json,
                            ToJson(field, JsonDefaults::kLeftOut));
  EXPECT_EQ(json, R"({"number":3,"type_url":"a\"b"})");
}

TEST(JsonTest, DefaultsAreWrittenOnRequest) {
  KILN_ASSERT_OK_AND_ASSIGN(const std::string json,
                            ToJson(Field(), JsonDefaults::kWritten));
  EXPECT_THAT(json, HasSubstr("\"number\":0"));
  EXPECT_THAT(json, HasSubstr("\"type_url\":\"\""));
  EXPECT_EQ(*ToJson(Field(), JsonDefaults::kLeftOut), "{}");
}

TEST(JsonTest, WhatIsWrittenIsRead) {
  Field field;
  field.set_name("n");
  field.set_oneof_index(-7);
  field.set_packed(true);
  for (const auto defaults : {JsonDefaults::kLeftOut, JsonDefaults::kWritten}) {
    Field again;
    KILN_ASSERT_OK(FromJson(*ToJson(field, defaults), &again));
    EXPECT_EQ(again.SerializeAsString(), field.SerializeAsString());
  }
}

TEST(JsonTest, WhatIsNoMessageIsRefused) {
  Field field;
  for (const char* text : {"", "{", "[]", "{\"number\":\"x\"}", "{} {}"}) {
    EXPECT_THAT(FromJson(text, &field),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_))
        << text;
  }
}

TEST(JsonTest, UnknownFieldsArePassedOverOnRequest) {
  constexpr char kText[] = R"({"number":3,"later":{"a":1}})";
  Field field;
  EXPECT_THAT(FromJson(kText, &field),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("later")));
  KILN_ASSERT_OK(FromJson(kText, &field, JsonUnknownFields::kPassedOver));
  EXPECT_EQ(field.number(), 3);
}

}  // namespace
}  // namespace kiln
