// A file is the magic "\x93NUMPY", two version bytes, the length of the header
// (2 bytes, from version 2 on 4), the header and the elements. The header is a
// Python dictionary literal:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#include "kiln/vm/ndarray/npy.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 32;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the dictionary, keys in any order. Every method returns false when the
// text is something else.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  bool Parse(Header& header) {
    int seen = 0;
    if (!Take('{')) return false;
    while (!Take('}')) {
      std::string key;
      if (!String(key) || !Take(':')) return false;
      if (key == "descr") {
        seen |= 1;
        if (!String(header.descr)) return false;
      } else if (key == "fortran_order") {
        seen |= 2;
        if (!Bool(header.fortran_order)) return false;
      } else if (key == "shape") {
        seen |= 4;
        if (!Tuple(header.shape)) return false;
      } else {
        return false;
      }
      if (!Take(',') && !Peek('}')) return false;
    }
    SkipSpace();
    return seen == 7 && rest_.empty();
  }

 private:
  void SkipSpace() {
    const size_t skip = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(skip == rest_.npos ? rest_.size() : skip);
  }
  bool Peek(char c) {
    SkipSpace();
    return !rest_.empty() && rest_.front() == c;
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool Word(std::string_view word) {
    SkipSpace();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool String(std::string& out) {
    SkipSpace();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return false;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == rest_.npos) return false;
    out = std::string(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return true;
  }
  bool Bool(bool& out) {
    out = Word("True");
    return out || Word("False");
  }
  bool Number(int64_t& out) {
    SkipSpace();
    const char* begin = rest_.data();
    auto [end, error] = std::from_chars(begin, begin + rest_.size(), out);
    if (error != std::errc() || end == begin) return false;
    rest_.remove_prefix(end - begin);
    static_cast<void>(Word("L"));  // As Python 2 wrote long numbers.
    return true;
  }
  bool Tuple(std::vector<int64_t>& out) {
    out.clear();
    if (!Take('(')) return false;
    while (!Take(')')) {
      int64_t extent;
      if (out.size() == kMaxRank || !Number(extent)) return false;
      out.push_back(extent);
      if (!Take(',') && !Peek(')')) return false;
    }
    return true;
  }

  std::string_view rest_;
};

struct NpyType {
  std::string_view descr;
  DType dtype;
};
constexpr NpyType kTypes[] = {
    {"<f2", DType::Float(16)}, {"<f4", DType::Float(32)},
    {"<f8", DType::Float(64)}, {"|i1", DType::Int(8)},
    {"<i2", DType::Int(16)},   {"<i4", DType::Int(32)},
    {"<i8", DType::Int(64)},   {"|u1", DType::UInt(8)},
    {"<u2", DType::UInt(16)},  {"<u4", DType::UInt(32)},
    {"<u8", DType::UInt(64)},  {"|b1", DType::Bool()}};

absl::StatusOr<DType> TypeOf(std::string_view descr) {
  for (const NpyType& type : kTypes) {
    // The order of single bytes is written as '|', '<' or '='.
    const bool single = type.descr[0] == '|' && descr.size() == 3 &&
                        descr.substr(1) == type.descr.substr(1);
    if (descr == type.descr || single) return type.dtype;
  }
  const std::string text(descr);
  if (!descr.empty() && descr[0] == '>') {
    return absl::InvalidArgumentError("is big-endian ('" + text +
                                      "'); save it with a '<' type");
  }
  return absl::InvalidArgumentError(
      "has elements of type '" + text +
      "', which is not supported; use float16/32/64, int8-64, uint8-64 or "
      "bool");
}

absl::Status Fault(const std::string& name, std::string_view message) {
  return absl::InvalidArgumentError(name + " " + std::string(message));
}

// Takes magic, version and header off the front of `bytes`.
absl::StatusOr<Header> TakeHeader(std::string_view& bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return absl::InvalidArgumentError(
        "is not an .npy file: it does not begin with \\x93NUMPY");
  }
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<uint8_t>(bytes[i]));
  };
  const absl::Status cut =
      absl::InvalidArgumentError("is cut short within its header");
  if (bytes.size() < 12) return cut;
  const size_t version = byte(6);
  if (version < 1 || version > 3) {
    return absl::InvalidArgumentError("is of .npy version " +
                                      std::to_string(version) +
                                      "; versions 1 to 3 are read");
  }
  size_t start = 10;
  size_t length = byte(8) | byte(9) << 8;
  if (version >= 2) {
    start = 12;
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (bytes.size() - start < length) return cut;
  Header header;
  if (!HeaderParser(bytes.substr(start, length)).Parse(header)) {
    return absl::InvalidArgumentError(
        "has a malformed header (a dictionary with descr, fortran_order and "
        "shape was expected)");
  }
  bytes.remove_prefix(start + length);
  return header;
}

// Copies column-major `from` into row-major `to` by counting through the
// indices of `to`.
void CopyFromFortranOrder(const char* from, const NDArray& to) {
  const int64_t width = to.dtype().bytes();
  std::vector<int64_t> strides(to.rank());
  int64_t stride = width;
  for (int i = 0; i < to.rank(); ++i) {
    strides[i] = stride;
    stride *= to.shape()[i];
  }
  std::vector<int64_t> index(to.rank(), 0);
  char* out = to.data_as<char>();
  int64_t offset = 0;
  for (int64_t n = 0; n < to.num_elements(); ++n, out += width) {
    std::memcpy(out, from + offset, width);
    for (int axis = to.rank() - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++index[axis] < to.shape()[axis]) break;
      offset -= strides[axis] * to.shape()[axis];
      index[axis] = 0;
    }
  }
}

absl::Status CheckSize(int64_t expected, size_t got, const std::string& type) {
  if (static_cast<uint64_t>(expected) == got) return absl::OkStatus();
  return absl::InvalidArgumentError(
      std::string(static_cast<uint64_t>(expected) > got
                      ? "is cut short: "
                      : "has bytes left over: ") +
      type + " takes " + std::to_string(expected) + " bytes, the file has " +
      std::to_string(got));
}

absl::StatusOr<NDArray> Parse(std::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(Header header, TakeHeader(bytes));
  KILN_ASSIGN_OR_RETURN(const DType dtype, TypeOf(header.descr));
  const auto elements = CheckedNumElements(header.shape, dtype);
  if (!elements.ok()) {
    return absl::InvalidArgumentError("has an impossible shape: " +
                                      std::string(elements.status().message()));
  }
  // Checked before anything is allocated: a header may promise too much.
  KILN_RETURN_IF_ERROR(CheckSize(*elements * dtype.bytes(), bytes.size(),
                                 "its " + dtype.ToString() + " data"));
  KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(header.shape, dtype));
  if (header.fortran_order && array.rank() > 1) {
    CopyFromFortranOrder(bytes.data(), array);
  } else if (!bytes.empty()) {
    std::memcpy(array.data(), bytes.data(), bytes.size());
  }
  return array;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

absl::Status FileError(const std::string& path, std::string_view action) {
  const std::string message = "cannot " + std::string(action) + " " + path +
                              ": " + std::strerror(errno);
  if (errno == ENOENT) return absl::NotFoundError(message);
  return absl::FailedPreconditionError(message);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return FileError(path, "open");
  std::string bytes;
  std::string chunk(1 << 20, '\0');
  while (true) {
    const size_t n = std::fread(chunk.data(), 1, chunk.size(), file.get());
    if (n == 0) break;
    bytes.append(chunk, 0, n);
  }
  if (std::ferror(file.get())) return FileError(path, "read");
  return bytes;
}

std::string HeaderText(std::string_view descr, const NDArray& array) {
  std::string text = "{'descr': '" + std::string(descr) +
                     "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < array.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(array.shape()[i]);
  }
  text += array.rank() == 1 ? ",), }" : "), }";
  // The elements start at a multiple of 64.
  const size_t size = kMagic.size() + 4 + text.size() + 1;
  text.append((64 - size % 64) % 64, ' ');
  return text + "\n";
}

}  // namespace

absl::StatusOr<NDArray> ParseNpy(std::string_view bytes,
                                 const std::string& name) {
  absl::StatusOr<NDArray> array = Parse(bytes);
  if (array.ok()) return array;
  if (!absl::IsInvalidArgument(array.status())) return array.status();
  return Fault(name, std::string(array.status().message()));
}

absl::StatusOr<NDArray> ReadNpy(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return ParseNpy(bytes, path);
}

absl::StatusOr<std::string> FormatNpy(const NDArray& array) {
  if (array.is_null()) {
    return absl::InvalidArgumentError("cannot save a null tensor");
  }
  for (const NpyType& type : kTypes) {
    if (type.dtype != array.dtype()) continue;
    const std::string header = HeaderText(type.descr, array);
    std::string bytes(kMagic);
    bytes += '\x01';
    bytes += '\0';
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    bytes += header;
    return bytes.append(array.data_as<char>(), array.bytes());
  }
  return absl::InvalidArgumentError(".npy has no type for " +
                                    array.dtype().ToString() +
                                    "; convert the tensor to float32 first");
}

absl::Status WriteNpy(const NDArray& array, const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, FormatNpy(array));
  File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return FileError(path, "create");
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()) != 0) {
    return FileError(path, "write");
  }
  return absl::OkStatus();
}

}  // namespace kiln
