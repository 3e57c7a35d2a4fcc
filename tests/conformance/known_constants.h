// Constants whose bytes a recorded module keeps apart from its text.
#ifndef KILN_TESTS_CONFORMANCE_KNOWN_CONSTANTS_H_
#define KILN_TESTS_CONFORMANCE_KNOWN_CONSTANTS_H_

#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// `module`, read from `text`, with the constants that the text's `metadata`
// holds in place of metadata["..."][index]. Those whose bytes are not found
// stay as they are.
Module WithKnownConstants(const Module& module, const std::string& text);

// `found` with each constant that is the next one of `wanted`, up to rounding,
// replaced by that.
Module WithConstantsOf(const Module& wanted, const Module& found);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_KNOWN_CONSTANTS_H_
