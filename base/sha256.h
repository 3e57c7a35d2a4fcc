// SHA-256 (FIPS 180-4), the content key of programs and records.
#ifndef KILN_BASE_SHA256_H_
#define KILN_BASE_SHA256_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kiln {

using Sha256Digest = std::array<uint8_t, 32>;

// The digest of the bytes.
Sha256Digest Sha256(std::string_view bytes);

// The digest of the bytes as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// A digest as 64 lower-case hexadecimal digits.
std::string ToHex(const Sha256Digest& digest);

}  // namespace kiln

#endif  // KILN_BASE_SHA256_H_
