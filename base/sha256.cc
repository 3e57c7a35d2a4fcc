#include "kiln/base/sha256.h"

#include <openssl/sha.h>

namespace kiln {

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         digest.data());
  return digest;
}

std::string ToHex(const Sha256Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (uint8_t byte : digest) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) { return ToHex(Sha256(bytes)); }

}  // namespace kiln
