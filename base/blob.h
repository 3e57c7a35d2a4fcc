// Bytes that never change: weights of a graph, a saved kernel, a part of
// either.
//
//   KILN_ASSIGN_OR_RETURN(Blob weights, Blob::Map("model.bin"));
//   KILN_ASSIGN_OR_RETURN(Blob bias, weights.Part(4096, 256));
//   cache[bias.digest()]...
//
// A blob owns its bytes or holds a file mapped into memory; copies share them,
// and its parts keep it alive. All functions may be called from several
// threads.
#ifndef KILN_BASE_BLOB_H_
#define KILN_BASE_BLOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/base/sha256.h"

namespace kiln {

class Blob {
 public:
  // No bytes.
  Blob();

  // A copy of the bytes. kResourceExhausted where there is no memory for it.
  static absl::StatusOr<Blob> Copy(std::string_view bytes);

  // The bytes of a file, read from disk when they are looked at. They are
  // those of the file as it was, also after another file was renamed over it
  // (WriteFileAtomically); a file that somebody writes into, or cuts short, in
  // its place must not be mapped. Where `size` is given and is not the size of
  // the file, kDataLoss with both. kNotFound, kPermissionDenied and so on from
  // the system, kInvalidArgument for what is no regular file; the message
  // names the path.
  static absl::StatusOr<Blob> Map(const std::string& path,
                                  std::optional<uint64_t> size = std::nullopt);

  // `size` bytes from `offset` on: shared where they are aligned, else a copy.
  // kOutOfRange, with the numbers, where the blob has no such bytes.
  absl::StatusOr<Blob> Part(uint64_t offset, uint64_t size) const;

  // Aligned to 64 bytes (kMemoryAlignment); not null, even where `size` is 0.
  const uint8_t* data() const;
  uint64_t size() const;
  bool is_empty() const { return size() == 0; }
  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(data()), size()};
  }
  // Whether the bytes are those of a mapped file.
  bool is_mapped() const;

  // SHA-256 of the bytes, worked out when it is asked for first.
  const Sha256Digest& digest() const;

  // Blobs are equal when their bytes are.
  friend bool operator==(const Blob& a, const Blob& b);

 private:
  struct Content;
  explicit Blob(std::shared_ptr<const Content> content);

  std::shared_ptr<const Content> content_;  // not null
};

}  // namespace kiln

#endif  // KILN_BASE_BLOB_H_
