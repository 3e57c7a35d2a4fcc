// The header is looked at first, then the message's digest, then the message,
// then the objects' digests, and at last the bytecode (verify.h): each step may
// rely on those before it. Of a file
//
//   header | message {blobs: [{offset 0, size 8000}, {offset 8000, ...}]} | ...
//
// the first blob begins at the first multiple of 64 behind the message.
#include "kiln/vm/executable/file.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/file.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/executable/codec.h"
#include "kiln/vm/executable/executable.pb.h"
#include "kiln/vm/executable/verify.h"

namespace kiln::vm {
namespace {

constexpr char kMagic[] = "KILNEXE\n";

// What a file begins with. All fields are little-endian, as the machines are
// that Kiln's objects run on.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t message_bytes;
  Sha256Digest digest;
};
static_assert(sizeof(Header) == 56);

constexpr uint64_t kAlignment = 64;

uint64_t AlignUp(uint64_t n) {
  return (n + kAlignment - 1) / kAlignment * kAlignment;
}

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<Header> ReadHeader(std::string_view bytes) {
  Header header;
  if (!IsExecutable(bytes)) return Invalid("is no executable of Kiln");
  if (bytes.size() < sizeof(header)) return Invalid("is cut short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != kExecutableVersion) {
    return Invalid(absl::StrCat("is an executable of version ", header.version,
                                "; this runtime reads version ",
                                kExecutableVersion, ": compile it anew"));
  }
  if (header.message_bytes > bytes.size() - sizeof(header)) {
    return Invalid("is cut short");
  }
  return header;
}

std::string DigestOf(const Blob& blob) {
  return std::string(blob.digest().begin(), blob.digest().end());
}

// The blobs of a file.
class Blobs {
 public:
  Blobs(const vm_proto::Executable& message, const Blob& file, uint64_t start)
      : message_(message), file_(file), start_(start) {}

  absl::StatusOr<Blob> operator()(uint32_t index) const {
    if (index >= static_cast<uint32_t>(message_.blobs_size())) {
      return Invalid("names bytes that it does not have");
    }
    const vm_proto::Blob& blob = message_.blobs(static_cast<int>(index));
    const uint64_t room = file_.size() - start_;
    if (blob.offset() > room || blob.size() > room - blob.offset()) {
      return Invalid("is cut short");
    }
    return file_.Part(start_ + blob.offset(), blob.size());
  }

 private:
  const vm_proto::Executable& message_;
  const Blob& file_;
  const uint64_t start_;
};

// Damaged code must not run.
absl::Status CheckObjects(const vm_proto::Executable& message,
                          const Executable& executable) {
  for (int i = 0; i < message.kernels_size(); ++i) {
    const int index = static_cast<int>(message.kernels(i).object());
    const Kernel& kernel = executable.kernels[i];
    if (DigestOf(kernel.object) != message.blobs(index).sha256()) {
      return Invalid(absl::StrCat("is damaged: the code of ", kernel.symbol,
                                  " is not what was written; compile it anew"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool IsExecutable(std::string_view bytes) {
  return bytes.substr(0, sizeof(kMagic) - 1) ==
         std::string_view(kMagic, sizeof(kMagic) - 1);
}

std::string Serialize(const Executable& executable) {
  vm_proto::Executable message;
  std::vector<Blob> blobs;
  ToMessage(executable, &message, &blobs);
  uint64_t offset = 0;
  for (const Blob& blob : blobs) {
    vm_proto::Blob* out = message.add_blobs();
    out->set_offset(offset);
    out->set_size(blob.size());
    out->set_sha256(DigestOf(blob));
    offset = AlignUp(offset + blob.size());
  }
  const std::string body = message.SerializeAsString();
  Header header = {};
  std::memcpy(header.magic, kMagic, sizeof(header.magic));
  header.version = kExecutableVersion;
  header.message_bytes = body.size();
  header.digest = Sha256(body);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += body;
  for (const Blob& blob : blobs) {
    bytes.resize(AlignUp(bytes.size()));
    bytes += blob.bytes();
  }
  return bytes;
}

absl::StatusOr<Executable> Parse(const Blob& bytes) {
  KILN_ASSIGN_OR_RETURN(const Header header, ReadHeader(bytes.bytes()));
  const std::string_view body =
      bytes.bytes().substr(sizeof(header), header.message_bytes);
  if (Sha256(body) != header.digest) {
    return Invalid("is damaged: its bytes are not those that were written");
  }
  vm_proto::Executable message;
  if (body.size() > INT32_MAX ||
      !message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Invalid("is damaged: its message does not parse");
  }
  const uint64_t start = AlignUp(sizeof(header) + body.size());
  if (start > bytes.size() && message.blobs_size() > 0) {
    return Invalid("is cut short");
  }
  const Blobs blobs(message, bytes, std::min(start, bytes.size()));
  KILN_ASSIGN_OR_RETURN(Executable executable, FromMessage(message, blobs));
  KILN_RETURN_IF_ERROR(CheckObjects(message, executable));
  KILN_RETURN_IF_ERROR(Verify(executable));
  return executable;
}

absl::Status WriteExecutable(const Executable& executable,
                             const std::string& path) {
  return WriteFileAtomically(path, Serialize(executable));
}

absl::StatusOr<Executable> ReadExecutable(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const Blob bytes, Blob::Map(path));
  absl::StatusOr<Executable> executable = Parse(bytes);
  if (executable.ok()) return executable;
  return absl::Status(executable.status().code(),
                      absl::StrCat(path, " ", executable.status().message()));
}

}  // namespace kiln::vm
