#include "kiln/tests/input_fuzz/shared_file.h"

#include <elf.h>
#include <stdlib.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "kiln/base/blob.h"
#include "kiln/base/check.h"
#include "kiln/base/file.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/export/shared_model.h"
#include "kiln/vm/library/elf_image.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

ElfPart SectionOf(const SharedFile& file) {
  const absl::StatusOr<ElfPart> part =
      FindElfSection(file.bytes, vm::kSharedModelSection);
  KILN_CHECK(part.ok()) << part.status();
  return *part;
}

}  // namespace

absl::StatusOr<SharedFile> WriteAndLoad(const vm::Executable& executable) {
  std::string folder = (fs::temp_directory_path() / "kiln.XXXXXX").string();
  KILN_CHECK(mkdtemp(folder.data()) != nullptr) << folder;
  const absl::Cleanup remove = [&folder] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  };
  const std::string path = folder + "/model.so";
  SharedFile file;
  KILN_RETURN_IF_ERROR(WriteSharedModel(executable, path));
  KILN_ASSIGN_OR_RETURN(file.bytes, ReadFile(path));
  KILN_ASSIGN_OR_RETURN(file.object, LoadedObject::Open(path));
  KILN_ASSIGN_OR_RETURN(file.header,
                        file.object->Symbol(vm::kSharedModelSymbol));
  KILN_ASSIGN_OR_RETURN(file.image, LoadedImage::Around(file.header));
  KILN_ASSIGN_OR_RETURN(const Blob blob, Blob::Copy(file.bytes));
  KILN_ASSIGN_OR_RETURN(const vm::SharedModelFile read,
                        vm::ReadSharedModel(blob));
  file.places = read.places;
  return file;
}

std::string ModelSection(const SharedFile& file) {
  const ElfPart part = SectionOf(file);
  return file.bytes.substr(part.offset, part.size);
}

std::string WithModelSection(const SharedFile& file, std::string section) {
  const Sha256Digest digest = vm::SharedModelDigest(section);
  std::memcpy(section.data() + offsetof(vm::SharedModelHeader, digest),
              digest.data(), digest.size());
  // At the end of the file, to which the section's header then leads.
  const ElfPart old = SectionOf(file);
  std::string bytes = file.bytes;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (int i = 0; i < header.e_shnum; ++i) {
    char* place = bytes.data() + header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr entry;
    std::memcpy(&entry, place, sizeof(entry));
    if (entry.sh_offset != old.offset || entry.sh_size != old.size) continue;
    entry.sh_offset = bytes.size();
    entry.sh_size = section.size();
    std::memcpy(place, &entry, sizeof(entry));
  }
  return bytes + section;
}

absl::StatusOr<vm::SharedModel> ReadDamaged(const SharedFile& file,
                                            const std::string& bytes) {
  KILN_RETURN_IF_ERROR(CheckSharedObject(bytes));
  KILN_ASSIGN_OR_RETURN(const Blob blob, Blob::Copy(bytes));
  KILN_ASSIGN_OR_RETURN(vm::SharedModelFile read, vm::ReadSharedModel(blob));
  vm::SharedModel model;
  KILN_ASSIGN_OR_RETURN(model.entries,
                        vm::FindKernels(read, file.header, file.image));
  if (read.places != file.places) {
    return absl::InvalidArgumentError("other code would be called");
  }
  model.executable = std::move(read.executable);
  model.owner = file.object;
  return model;
}

}  // namespace kiln
