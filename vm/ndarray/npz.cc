#include "kiln/vm/ndarray/npz.h"

#include <zip.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/ndarray/npy.h"

namespace kiln {
namespace {

constexpr char kSuffix[] = ".npy";

// What one tensor may take, unpacked.
constexpr zip_uint64_t kMostBytes = zip_uint64_t{64} << 30;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, Discard>;

struct Close {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string Reason(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return reason;
}

absl::Status Invalid(const std::string& path, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", std::string(what)));
}

absl::StatusOr<std::string> ReadEntry(zip_t* archive, zip_uint64_t index,
                                      zip_uint64_t size,
                                      const std::string& path) {
  if (size > kMostBytes) return Invalid(path, "an entry is too large");
  const std::unique_ptr<zip_file_t, Close> file(
      zip_fopen_index(archive, index, 0));
  if (!file) return Invalid(path, zip_strerror(archive));
  // Grows with what is there, whatever the directory claims.
  std::string bytes;
  std::vector<char> part(size_t{1} << 20);
  while (true) {
    const zip_int64_t count = zip_fread(file.get(), part.data(), part.size());
    if (count < 0) return Invalid(path, zip_file_strerror(file.get()));
    if (count == 0) break;
    bytes.append(part.data(), count);
    if (bytes.size() > size) return Invalid(path, "an entry is damaged");
  }
  if (bytes.size() != size) return Invalid(path, "an entry is cut short");
  return bytes;
}

}  // namespace

absl::StatusOr<std::map<std::string, NDArray>> ReadNpz(
    const std::string& path) {
  int code = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive && code == ZIP_ER_NOENT) {
    return absl::NotFoundError(absl::StrCat(path, ": no such file"));
  }
  if (!archive)
    return Invalid(path, absl::StrCat("no .npz file: ", Reason(code)));
  std::map<std::string, NDArray> arrays;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    const bool is_known = zip_stat_index(archive.get(), i, 0, &stat) == 0 &&
                          (stat.valid & ZIP_STAT_NAME) != 0 &&
                          (stat.valid & ZIP_STAT_SIZE) != 0;
    if (!is_known) return Invalid(path, zip_strerror(archive.get()));
    std::string name = stat.name;
    const std::string where = absl::StrCat(path, ": ", name);
    if (!absl::EndsWith(name, kSuffix)) return Invalid(where, "no .npy file");
    name.resize(name.size() - (sizeof(kSuffix) - 1));
    KILN_ASSIGN_OR_RETURN(const std::string bytes,
                          ReadEntry(archive.get(), i, stat.size, where));
    KILN_ASSIGN_OR_RETURN(arrays[name], ParseNpy(bytes, where));
  }
  return arrays;
}

absl::Status WriteNpz(const std::map<std::string, NDArray>& arrays,
                      const std::string& path) {
  const std::string partial = absl::StrCat(path, ".partial");
  int code = 0;
  Archive archive(zip_open(partial.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (!archive) return Invalid(path, Reason(code));
  std::vector<std::string> contents;  // live until the archive is written
  contents.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    KILN_ASSIGN_OR_RETURN(std::string bytes, FormatNpy(array));
    contents.push_back(std::move(bytes));
    zip_source_t* source = zip_source_buffer(
        archive.get(), contents.back().data(), contents.back().size(), 0);
    const std::string entry = absl::StrCat(name, kSuffix);
    const zip_int64_t index = source
                                  ? zip_file_add(archive.get(), entry.c_str(),
                                                 source, ZIP_FL_ENC_UTF_8)
                                  : -1;
    if (index < 0) {
      if (source) zip_source_free(source);
      return Invalid(path, zip_strerror(archive.get()));
    }
    zip_set_file_compression(archive.get(), index, ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) {
    return Invalid(path, zip_strerror(archive.get()));
  }
  (void)archive.release();
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  return error ? Invalid(path, error.message()) : absl::OkStatus();
}

}  // namespace kiln
