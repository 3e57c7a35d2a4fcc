// Executables in shared objects: a model as one file whose kernels the system
// loads as any code, and whose weights are mapped.
//
//   .kiln.model    SharedModelHeader, places of the kernels, message
//   .kiln.weights  the constants, each at a multiple of 64; begins at a page
//
// Nothing in either is changed when the object is loaded, so all processes
// share them. The symbol kiln_model is the header's address. All numbers are
// little-endian; places are bytes from that address on.
#ifndef KILN_VM_EXECUTABLE_SHARED_MODEL_H_
#define KILN_VM_EXECUTABLE_SHARED_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/blob.h"
#include "kiln/base/sha256.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/loaded_image.h"

namespace kiln::vm {

inline constexpr uint32_t kSharedModelVersion = 1;
inline constexpr char kSharedModelMagic[] = "KILNMOD\n";
inline constexpr char kSharedModelSymbol[] = "kiln_model";
inline constexpr char kSharedModelSection[] = ".kiln.model";
inline constexpr char kSharedWeightsSection[] = ".kiln.weights";

struct SharedModelHeader {
  char magic[8];
  uint32_t version;
  uint32_t kernel_abi;  // KILN_KERNEL_ABI_VERSION of the kernels
  Sha256Digest digest;  // of what follows, to the end of the section
  uint64_t num_kernels;
  uint64_t message_bytes;
  // int64_t places[num_kernels], then the message (executable.proto). Its
  // blobs' offsets count from the first weight.
};
static_assert(sizeof(SharedModelHeader) == 64);

// What SharedModelHeader::digest has to be in a section, which has a header at
// least.
Sha256Digest SharedModelDigest(std::string_view section);

struct SharedModel {
  Executable executable;  // kernels have no objects
  std::vector<KilnKernel> entries;
  std::shared_ptr<const void> owner;  // keeps the code
};

// The model in the shared object at `path`. NotFound for no such file,
// InvalidArgument, with the path, for what is no shared object, no model, of
// another version, damaged (but in its code and weights) or does not verify.
absl::StatusOr<SharedModel> OpenSharedModel(const std::string& path);
// The one whose header is at `header`: of an object that the program is linked
// to, and that is there for as long as it runs.
absl::StatusOr<SharedModel> OpenLinkedModel(const void* header);

// The two parts of it: what the bytes of the file say, and where its kernels
// are once it is loaded. `header` is the header's address in `image`.
struct SharedModelFile {
  Executable executable;  // verified
  std::vector<int64_t> places;
  Sha256Digest digest;
};
absl::StatusOr<SharedModelFile> ReadSharedModel(const Blob& file);
absl::StatusOr<std::vector<KilnKernel>> FindKernels(const SharedModelFile& file,
                                                    const void* header,
                                                    const LoadedImage& image);

}  // namespace kiln::vm

#endif  // KILN_VM_EXECUTABLE_SHARED_MODEL_H_
