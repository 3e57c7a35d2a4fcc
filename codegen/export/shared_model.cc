// Into a folder beside the output go
//
//   0.o, 1.o, ...  the kernels' objects, each once
//   model.o        header, bytecode, weights, and where the kernels will be
//   libm.so.6      an empty library of that name, so that the model asks the
//                  system for the functions that kernels call; where they
//                  convert 16-bit floats by functions, libgcc_s.so.1 too
//   exports        a list that keeps all names but the model's inside
//   linked.so      what lld makes of them
//
// and the last one gets the digest, which covers what the linker worked out,
// before it becomes the output.
#include "kiln/codegen/export/shared_model.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/blob.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/export/data_object.h"
#include "kiln/codegen/link/shared_object.h"
#include "kiln/vm/executable/codec.h"
#include "kiln/vm/executable/executable.pb.h"
#include "kiln/vm/executable/shared_model.h"
#include "kiln/vm/library/elf_image.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {
namespace {

constexpr uint64_t kPage = 4096, kConstantAlignment = 64;
constexpr char kZeros[kConstantAlignment] = {};

// Bytecode without the kernels' objects, and constants without a copy.
struct Data {
  std::string model;  // header, places, message
  std::vector<Blob> blobs;
  std::vector<std::string_view> weights;
};

Data DataOf(const vm::Executable& executable) {
  vm::Executable bare = executable;
  for (vm::Kernel& kernel : bare.kernels) kernel.object = Blob();
  Data data;
  vm_proto::Executable message;
  vm::ToMessage(bare, &message, &data.blobs);
  uint64_t end = 0;
  for (const Blob& blob : data.blobs) {
    vm_proto::Blob* part = message.add_blobs();
    part->set_offset(end);
    part->set_size(blob.size());
    const uint64_t gap =
        (kConstantAlignment - blob.size() % kConstantAlignment) %
        kConstantAlignment;
    data.weights.push_back(blob.bytes());
    data.weights.emplace_back(kZeros, gap);
    end += blob.size() + gap;
  }
  const std::string body = message.SerializeAsString();
  const std::vector<int64_t> places(executable.kernels.size());
  vm::SharedModelHeader header = {};
  std::memcpy(header.magic, vm::kSharedModelMagic, sizeof(header.magic));
  header.version = vm::kSharedModelVersion;
  header.kernel_abi = KILN_KERNEL_ABI_VERSION;
  header.num_kernels = places.size();
  header.message_bytes = body.size();
  const size_t places_bytes = places.size() * sizeof(int64_t);
  data.model.assign(reinterpret_cast<const char*>(&header), sizeof(header));
  data.model.append(reinterpret_cast<const char*>(places.data()), places_bytes);
  data.model += body;
  return data;
}

// Into a folder that goes away: not synced as files are that stay.
absl::Status WriteTemporary(const std::string& path, std::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const std::string what = absl::StrCat("cannot write ", path);
  if (file == nullptr) return absl::ErrnoToStatus(errno, what);
  const bool is_written =
      std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) == 0 && is_written) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, what);
}

// What the first object is for; of a model without kernels, this machine.
absl::StatusOr<uint16_t> MachineOf(const vm::Executable& executable) {
  if (!executable.kernels.empty()) {
    return ElfMachine(executable.kernels[0].object.bytes());
  }
#if defined(__aarch64__)
  return EM_AARCH64;
#else
  return EM_X86_64;
#endif
}

absl::StatusOr<DataObject> ObjectOf(const vm::Executable& executable,
                                    const Data& data,
                                    const SharedModelOptions& options) {
  DataObject object;
  KILN_ASSIGN_OR_RETURN(object.machine, MachineOf(executable));
  object.sections = {
      {vm::kSharedModelSection, kConstantAlignment, {data.model}},
      {vm::kSharedWeightsSection, kPage, data.weights, /*is_large=*/true}};
  object.symbols = {{vm::kSharedModelSymbol, 0}};
  if (!options.symbol.empty() && options.symbol != vm::kSharedModelSymbol) {
    object.symbols.push_back({options.symbol, 0});
  }
  uint64_t place = sizeof(vm::SharedModelHeader);
  for (const vm::Kernel& kernel : executable.kernels) {
    object.distances.push_back({place, kernel.symbol});
    place += sizeof(int64_t);
  }
  return object;
}

class Linker {
 public:
  Linker(const vm::Executable& executable, const SharedModelOptions& options,
         std::string folder)
      : executable_(executable),
        options_(options),
        folder_(std::move(folder)) {}

  // linked.so, without its digest.
  absl::StatusOr<std::string> Link(const std::string& soname) {
    KILN_RETURN_IF_ERROR(WriteKernels());
    const Data data = DataOf(executable_);
    KILN_ASSIGN_OR_RETURN(const DataObject model,
                          ObjectOf(executable_, data, options_));
    KILN_RETURN_IF_ERROR(WriteDataObject(model, File("model.o")));
    std::vector<std::string> files = objects_;
    files.push_back(File("model.o"));
    for (const std::string& library : Libraries()) {
      KILN_RETURN_IF_ERROR(MakeLibrary(library, model.machine));
      files.push_back(File(library));
    }
    KILN_RETURN_IF_ERROR(WriteTemporary(
        File("exports"),
        absl::StrCat("{ global: ", vm::kSharedModelSymbol, "; ",
                     options_.symbol.empty() ? "" : options_.symbol + "; ",
                     "local: *; };\n")));
    KILN_RETURN_IF_ERROR(LinkSharedObject(
        files, File("linked.so"),
        {"--version-script=" + File("exports"), "-soname=" + soname, "-z",
         "now", "--hash-style=gnu"}));
    return File("linked.so");
  }

 private:
  std::string File(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }

  absl::Status WriteKernels() {
    std::set<std::string> symbols;
    std::set<Sha256Digest> written;
    for (const vm::Kernel& kernel : executable_.kernels) {
      if (!symbols.insert(kernel.symbol).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("two kernels are called ", kernel.symbol));
      }
      if (!written.insert(kernel.object.digest()).second) continue;
      objects_.push_back(File(absl::StrCat(objects_.size(), ".o")));
      KILN_RETURN_IF_ERROR(
          WriteTemporary(objects_.back(), kernel.object.bytes()));
    }
    return absl::OkStatus();
  }

  // Names of functions that compilers bring begin with two underscores.
  std::vector<std::string> Libraries() const {
    constexpr std::string_view kOfCompiler("\0__", 3);
    for (const vm::Kernel& kernel : executable_.kernels) {
      if (kernel.object.bytes().find(kOfCompiler) != std::string_view::npos) {
        return {"libm.so.6", "libgcc_s.so.1"};
      }
    }
    return {"libm.so.6"};
  }

  // One without anything in it.
  absl::Status MakeLibrary(const std::string& name, uint16_t machine) const {
    DataObject nothing;
    nothing.machine = machine;
    nothing.sections = {{".rodata", 1, {}}};
    KILN_RETURN_IF_ERROR(WriteDataObject(nothing, File("nothing.o")));
    return LinkSharedObject({File("nothing.o")}, File(name),
                            {"-soname=" + name});
  }

  const vm::Executable& executable_;
  const SharedModelOptions& options_;
  const std::string folder_;
  std::vector<std::string> objects_;
};

// Into the linked file, whose header the linker has completed.
absl::Status AddDigest(const std::string& path) {
  Sha256Digest digest;
  uint64_t place = 0;
  {
    KILN_ASSIGN_OR_RETURN(const Blob file, Blob::Map(path));
    KILN_ASSIGN_OR_RETURN(
        const ElfPart part,
        FindElfSection(file.bytes(), vm::kSharedModelSection));
    digest = vm::SharedModelDigest(file.bytes().substr(part.offset, part.size));
    place = part.offset + offsetof(vm::SharedModelHeader, digest);
  }
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot write " + path);
  const absl::Cleanup close_file = [fd] { close(fd); };
  const ssize_t size = sizeof(digest);
  const bool is_done =
      pwrite(fd, digest.data(), size, static_cast<off_t>(place)) == size &&
      fsync(fd) == 0;
  if (is_done) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "cannot write " + path);
}

// It stands in a script of the linker's.
absl::Status CheckSymbol(const std::string& symbol) {
  const bool is_name = std::all_of(symbol.begin(), symbol.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_';
  });
  if (is_name && (symbol.empty() || !absl::ascii_isdigit(symbol[0]))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", symbol, "\" is no name in C for the model"));
}

absl::StatusOr<std::string> MakeFolderBeside(const std::string& path) {
  std::string folder = path + ".XXXXXX";
  if (mkdtemp(folder.data()) != nullptr) return folder;
  return absl::ErrnoToStatus(
      errno, absl::StrCat("cannot make a folder beside ", path));
}

}  // namespace

absl::Status WriteSharedModel(const vm::Executable& executable,
                              const std::string& path,
                              const SharedModelOptions& options) {
  namespace fs = std::filesystem;
  KILN_RETURN_IF_ERROR(CheckSymbol(options.symbol));
  KILN_ASSIGN_OR_RETURN(const std::string folder, MakeFolderBeside(path));
  const absl::Cleanup remove = [&folder] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  };
  Linker linker(executable, options, folder);
  KILN_ASSIGN_OR_RETURN(const std::string linked,
                        linker.Link(fs::path(path).filename().string()));
  KILN_RETURN_IF_ERROR(AddDigest(linked));
  std::error_code error;
  fs::rename(linked, path, error);
  if (!error) return absl::OkStatus();
  return absl::ErrnoToStatus(error.value(), "cannot write " + path);
}

}  // namespace kiln
