// All places of a message are listed, then some of them changed:
//
//   functions[1].code[3].target = 7     code[3] taken out, or put in twice
#include <cstdint>
#include <limits>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "kiln/tests/input_fuzz/mutate.h"

namespace kiln {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct Place {
  Message* message;
  const FieldDescriptor* field;
  int index = -1;  // of a repeated field
};

void AddPlaces(Message* message, std::vector<Place>& places) {
  const Reflection& reflection = *message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_message =
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!field->is_repeated()) {
      places.push_back({message, field});
      if (is_message) {
        AddPlaces(reflection.MutableMessage(message, field), places);
      }
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
      places.push_back({message, field, i});
      if (is_message) {
        AddPlaces(reflection.MutableRepeatedMessage(message, field, i), places);
      }
    }
  }
}

// A value near `old`, or an extreme one.
int64_t OtherNumber(int64_t old, Random& random) {
  switch (random.Below(6)) {
    case 0:
      return static_cast<int64_t>(static_cast<uint64_t>(old) + 1);
    case 1:
      return static_cast<int64_t>(static_cast<uint64_t>(old) - 1);
    case 2:
      return static_cast<int64_t>(random());
    case 3:
      return std::numeric_limits<int64_t>::min();
    default:
      return random.Between(-2, 40);
  }
}

// Sets what the place holds by the setter for one value or for an element.
#define KILN_SET(Kind, value)                                                  \
  (place.index < 0 ? reflection.Set##Kind(place.message, place.field, (value)) \
                   : reflection.SetRepeated##Kind(place.message, place.field,  \
                                                  place.index, (value)))
#define KILN_GET(Kind)                                                         \
  (place.index < 0 ? reflection.Get##Kind(*place.message, place.field)         \
                   : reflection.GetRepeated##Kind(*place.message, place.field, \
                                                  place.index))

void SetOther(const Place& place, Random& random) {
  const Reflection& reflection = *place.message->GetReflection();
  switch (place.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return KILN_SET(
          Int32, static_cast<int32_t>(OtherNumber(KILN_GET(Int32), random)));
    case FieldDescriptor::CPPTYPE_UINT32:
      return KILN_SET(
          UInt32, static_cast<uint32_t>(OtherNumber(KILN_GET(UInt32), random)));
    case FieldDescriptor::CPPTYPE_INT64:
      return KILN_SET(Int64, OtherNumber(KILN_GET(Int64), random));
    case FieldDescriptor::CPPTYPE_UINT64:
      return KILN_SET(UInt64,
                      static_cast<uint64_t>(OtherNumber(
                          static_cast<int64_t>(KILN_GET(UInt64)), random)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return KILN_SET(Double, static_cast<double>(OtherNumber(3, random)));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return KILN_SET(Float, static_cast<float>(OtherNumber(3, random)));
    case FieldDescriptor::CPPTYPE_BOOL:
      return KILN_SET(Bool, !KILN_GET(Bool));
    case FieldDescriptor::CPPTYPE_ENUM:
      return KILN_SET(EnumValue, static_cast<int>(random.Between(-1, 12)));
    case FieldDescriptor::CPPTYPE_STRING:
      return KILN_SET(String, MutateBytes(KILN_GET(String), random));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return;
  }
}
#undef KILN_SET
#undef KILN_GET

void Repeat(const Place& place) {
  const Reflection& reflection = *place.message->GetReflection();
  Message* added = reflection.AddMessage(place.message, place.field);
  added->CopyFrom(
      reflection.GetRepeatedMessage(*place.message, place.field, place.index));
}

void ChangePlace(const Place& place, Random& random) {
  const Reflection& reflection = *place.message->GetReflection();
  const uint64_t kind = random.Below(8);
  if (place.index < 0) {
    if (kind == 0) return reflection.ClearField(place.message, place.field);
    return SetOther(place, random);
  }
  const int size = reflection.FieldSize(*place.message, place.field);
  if (kind == 0) return reflection.RemoveLast(place.message, place.field);
  if (kind <= 2) {
    const int other = static_cast<int>(random.Below(size));
    return reflection.SwapElements(place.message, place.field, place.index,
                                   other);
  }
  const bool is_message =
      place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  return is_message ? Repeat(place) : SetOther(place, random);
}

}  // namespace

void MutateMessage(Message* message, Random& random) {
  for (uint64_t i = 1 + random.Below(4); i > 0; --i) {
    std::vector<Place> places;
    AddPlaces(message, places);
    if (places.empty()) return;
    ChangePlace(places[random.Below(places.size())], random);
  }
}

}  // namespace kiln
