// Random damage to inputs.
#ifndef KILN_TESTS_INPUT_FUZZ_MUTATE_H_
#define KILN_TESTS_INPUT_FUZZ_MUTATE_H_

#include <string>

#include "google/protobuf/message.h"
#include "kiln/base/random.h"

namespace kiln {

// One to four changes: words, lines and characters that are gone, repeated,
// moved, or replaced by others of the text or by words and numbers that mean
// something.
std::string MutateText(std::string text, Random& random);

// Some bits are flipped, or bytes cut out or repeated.
std::string MutateBytes(std::string bytes, Random& random);

// One to four fields, at any depth, that are gone, repeated, swapped, or have
// another value: one nearby, one of another field, an extreme one.
void MutateMessage(google::protobuf::Message* message, Random& random);

}  // namespace kiln

#endif  // KILN_TESTS_INPUT_FUZZ_MUTATE_H_
