// The file is read as any file, and loaded for its code alone; both are the
// same pages of memory. Each step may rely on those before it:
//
//   file      all that the system is going to map is there (CheckSharedObject)
//   header    magic, version, digest; sizes fit each other and the section
//   message   blobs lie in the weights; verify.h
//   kernels   the loaded object is that file; places lie in its code
//
// The digest covers the places, which are the linker's: who writes a model adds
// it after linking (codegen/export).
#include "kiln/vm/executable/shared_model.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/executable/codec.h"
#include "kiln/vm/executable/executable.pb.h"
#include "kiln/vm/executable/verify.h"
#include "kiln/vm/library/elf_image.h"
#include "kiln/vm/library/object_loader.h"

namespace kiln::vm {
namespace {

constexpr size_t kDigested =
    offsetof(SharedModelHeader, digest) + sizeof(Sha256Digest);

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

absl::Status Damaged(std::string what) {
  return Invalid(absl::StrCat("is damaged: ", what, "; compile it anew"));
}

absl::Status CheckVersions(const SharedModelHeader& header) {
  if (std::memcmp(header.magic, kSharedModelMagic, sizeof(header.magic)) != 0) {
    return Invalid("is no model of Kiln");
  }
  if (header.version != kSharedModelVersion) {
    return Invalid(absl::StrCat("is a model of version ", header.version,
                                "; this runtime reads version ",
                                kSharedModelVersion, ": compile it anew"));
  }
  if (header.kernel_abi == KILN_KERNEL_ABI_VERSION) return absl::OkStatus();
  return Invalid(
      absl::StrCat("has kernels for version ", header.kernel_abi,
                   " of the calling convention, and this runtime has version ",
                   KILN_KERNEL_ABI_VERSION, ": compile it anew"));
}

absl::StatusOr<SharedModelHeader> ReadHeader(std::string_view section) {
  SharedModelHeader header;
  if (section.size() < sizeof(header)) return Invalid("is no model of Kiln");
  std::memcpy(&header, section.data(), sizeof(header));
  KILN_RETURN_IF_ERROR(CheckVersions(header));
  if (SharedModelDigest(section) != header.digest) {
    return Damaged("its bytes are not those that were written");
  }
  const uint64_t rest = section.size() - sizeof(header);
  if (header.num_kernels > rest / sizeof(int64_t) ||
      header.message_bytes != rest - header.num_kernels * sizeof(int64_t)) {
    return Damaged("the sizes in its header do not fit each other");
  }
  return header;
}

absl::StatusOr<Executable> ReadMessage(std::string_view body,
                                       const Blob& weights) {
  vm_proto::Executable message;
  if (body.size() > INT32_MAX ||
      !message.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return Damaged("its message does not parse");
  }
  const auto blob = [&](uint32_t index) -> absl::StatusOr<Blob> {
    if (index >= static_cast<uint32_t>(message.blobs_size())) {
      return Damaged("it names bytes that it does not have");
    }
    const vm_proto::Blob& part = message.blobs(static_cast<int>(index));
    absl::StatusOr<Blob> bytes = weights.Part(part.offset(), part.size());
    if (!bytes.ok()) return Damaged("a constant lies outside of its weights");
    return bytes;
  };
  return FromMessage(message, blob);
}

absl::StatusOr<std::string_view> SectionOf(const Blob& file) {
  const absl::StatusOr<ElfPart> part =
      FindElfSection(file.bytes(), kSharedModelSection);
  if (part.ok()) return file.bytes().substr(part->offset, part->size);
  return Invalid(absl::StrCat("is a shared object without a model: it ",
                              part.status().message()));
}

// An object that the system has loaded.
struct Loaded {
  std::shared_ptr<const LoadedObject> object;
  const void* header = nullptr;
  LoadedImage image{{}};
};

absl::StatusOr<Loaded> Load(const std::string& path) {
  Loaded loaded;
  KILN_ASSIGN_OR_RETURN(loaded.object, LoadedObject::Open(path));
  KILN_ASSIGN_OR_RETURN(loaded.header,
                        loaded.object->Symbol(kSharedModelSymbol));
  KILN_ASSIGN_OR_RETURN(loaded.image, LoadedImage::Around(loaded.header));
  return loaded;
}

// Whether the header at that address is the file's.
bool IsSame(const SharedModelFile& file, const void* header,
            const LoadedImage& image) {
  SharedModelHeader found;
  const char* begin = image.Find(header, 0, sizeof(found));
  if (begin == nullptr) return false;
  std::memcpy(&found, begin, sizeof(found));
  return found.digest == file.digest;
}

// For a name under which it has opened a file the system gives that one again,
// also after another was written in its place. The same path with another "./"
// in it is another name.
absl::StatusOr<Loaded> LoadAsItIs(std::string path,
                                  const SharedModelFile& file) {
  constexpr int kMostVersions = 100;
  const size_t slash = path.rfind('/');
  const size_t base = slash == path.npos ? 0 : slash + 1;
  for (int i = 0; i < kMostVersions; ++i) {
    KILN_ASSIGN_OR_RETURN(Loaded loaded, Load(path));
    if (IsSame(file, loaded.header, loaded.image)) return loaded;
    path.insert(base, "./");
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "has been opened in ", kMostVersions, " versions that are still in use"));
}

absl::StatusOr<SharedModel> Open(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const Blob bytes, Blob::Map(path));
  KILN_RETURN_IF_ERROR(CheckSharedObject(bytes.bytes()));
  KILN_ASSIGN_OR_RETURN(SharedModelFile file, ReadSharedModel(bytes));
  KILN_ASSIGN_OR_RETURN(const Loaded loaded, LoadAsItIs(path, file));
  SharedModel model;
  KILN_ASSIGN_OR_RETURN(model.entries,
                        FindKernels(file, loaded.header, loaded.image));
  model.executable = std::move(file.executable);
  model.owner = loaded.object;
  return model;
}

// With the path where the message has none.
absl::Status In(const std::string& path, const absl::Status& status) {
  if (absl::StrContains(status.message(), path)) return status;
  return absl::Status(status.code(), absl::StrCat(path, " ", status.message()));
}

}  // namespace

Sha256Digest SharedModelDigest(std::string_view section) {
  return Sha256(section.substr(kDigested));
}

absl::StatusOr<SharedModelFile> ReadSharedModel(const Blob& file) {
  KILN_ASSIGN_OR_RETURN(const std::string_view section, SectionOf(file));
  KILN_ASSIGN_OR_RETURN(const SharedModelHeader header, ReadHeader(section));
  KILN_ASSIGN_OR_RETURN(const ElfPart part,
                        FindElfSection(file.bytes(), kSharedWeightsSection));
  KILN_ASSIGN_OR_RETURN(const Blob weights, file.Part(part.offset, part.size));
  SharedModelFile read;
  read.digest = header.digest;
  KILN_ASSIGN_OR_RETURN(
      read.executable,
      ReadMessage(section.substr(section.size() - header.message_bytes),
                  weights));
  if (read.executable.kernels.size() != header.num_kernels) {
    return Damaged("it has not as many kernels as its header tells");
  }
  read.places.resize(header.num_kernels);
  if (!read.places.empty()) {
    std::memcpy(read.places.data(), section.data() + sizeof(header),
                read.places.size() * sizeof(int64_t));
  }
  KILN_RETURN_IF_ERROR(Verify(read.executable));
  return read;
}

absl::StatusOr<std::vector<KilnKernel>> FindKernels(const SharedModelFile& file,
                                                    const void* header,
                                                    const LoadedImage& image) {
  std::vector<KilnKernel> entries;
  for (int64_t place : file.places) {
    const char* code = image.FindCode(header, place);
    if (code == nullptr) return Damaged("a kernel is not where it says");
    entries.push_back(
        reinterpret_cast<KilnKernel>(reinterpret_cast<uintptr_t>(code)));
  }
  return entries;
}

absl::StatusOr<SharedModel> OpenSharedModel(const std::string& path) {
  absl::StatusOr<SharedModel> model = Open(path);
  if (!model.ok()) return In(path, model.status());
  return model;
}

absl::StatusOr<SharedModel> OpenLinkedModel(const void* header) {
  KILN_ASSIGN_OR_RETURN(const LoadedImage image, LoadedImage::Around(header));
  const char* begin = image.Find(header, 0, sizeof(SharedModelHeader));
  if (begin == nullptr ||
      std::memcmp(begin, kSharedModelMagic, sizeof(kSharedModelMagic) - 1)) {
    return Invalid("what is at that address is no model of Kiln");
  }
  KILN_ASSIGN_OR_RETURN(const Blob bytes, Blob::Map(image.path()));
  absl::StatusOr<SharedModelFile> file = ReadSharedModel(bytes);
  if (!file.ok()) return In(image.path(), file.status());
  if (!IsSame(*file, header, image)) {
    return absl::FailedPreconditionError(absl::StrCat(
        image.path(), " is not what this program was started with any more"));
  }
  SharedModel model;
  KILN_ASSIGN_OR_RETURN(model.entries, FindKernels(*file, header, image));
  model.executable = std::move(file->executable);
  return model;
}

}  // namespace kiln::vm
