// Three steps: the text becomes a tree (JsonReader), the list "nodes" of it is
// followed from the root (kinds, then the objects of each, then the tensor that
// an object has as its value), and the bytes of that tensor are taken apart:
//
//   magic  0  device, number  dimensions  code bits lanes  extents  size  bytes
//   u64   u64    i32, i32        i32       u8   u8   u16     i64[]   i64   ...
#include "kiln/ir/text/reader/metadata.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"

namespace kiln::script {
namespace {

// --- JSON.

struct Json {
  double number = -1;  // of a number
  std::string text;    // of a string
  std::vector<Json> items;
  std::map<std::string, Json> fields;

  const Json* Field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  absl::StatusOr<Json> Read() {
    Json json;
    KILN_RETURN_IF_ERROR(Value(json, 0));
    Skip();
    if (at_ < text_.size()) return Error("the end");
    return json;
  }

 private:
  static constexpr int kMaxDepth = 100;

  absl::Status Error(std::string_view wanted) const {
    return absl::InvalidArgumentError(
        absl::StrCat("the metadata is no JSON: byte ", at_, " is not ",
                     std::string(wanted)));
  }
  void Skip() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_])) ++at_;
  }
  bool Take(char c) {
    Skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::Status Value(Json& json, int depth);
  absl::Status Fields(Json& json, int depth);
  absl::Status Items(Json& json, int depth);
  absl::Status Text(std::string& text);
  absl::Status Plain(Json& json);

  const std::string_view text_;
  size_t at_ = 0;
};

absl::Status JsonReader::Value(Json& json, int depth) {
  if (depth > kMaxDepth) return Error("so deep");
  if (Take('{')) return Fields(json, depth);
  if (Take('[')) return Items(json, depth);
  if (at_ < text_.size() && text_[at_] == '"') return Text(json.text);
  return Plain(json);
}

absl::Status JsonReader::Fields(Json& json, int depth) {
  if (Take('}')) return absl::OkStatus();
  do {
    std::string name;
    Skip();
    KILN_RETURN_IF_ERROR(Text(name));
    if (!Take(':')) return Error("':'");
    KILN_RETURN_IF_ERROR(Value(json.fields[name], depth + 1));
  } while (Take(','));
  return Take('}') ? absl::OkStatus() : Error("'}'");
}

absl::Status JsonReader::Items(Json& json, int depth) {
  if (Take(']')) return absl::OkStatus();
  do {
    KILN_RETURN_IF_ERROR(Value(json.items.emplace_back(), depth + 1));
  } while (Take(','));
  return Take(']') ? absl::OkStatus() : Error("']'");
}

// Escapes matter to nothing that is looked for here, but for those of slashes,
// which base64 has.
absl::Status JsonReader::Text(std::string& text) {
  if (!Take('"')) return Error("a string");
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\' && ++at_ == text_.size()) break;
    text.push_back(text_[at_]);
  }
  return Take('"') ? absl::OkStatus() : Error("the end of a string");
}

absl::Status JsonReader::Plain(Json& json) {
  const size_t begin = at_;
  while (at_ < text_.size() && !std::strchr(",]} \t\r\n", text_[at_])) ++at_;
  const std::string_view word = text_.substr(begin, at_ - begin);
  if (word == "true" || word == "false" || word == "null") {
    return absl::OkStatus();
  }
  if (absl::SimpleAtod(absl::string_view(word.data(), word.size()),
                       &json.number)) {
    return absl::OkStatus();
  }
  at_ = begin;
  return Error("a value");
}

// --- Tensors.

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  std::optional<T> Next() {
    T value;
    if (bytes_.size() < sizeof(T)) return std::nullopt;
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

constexpr uint64_t kMagic = 0xDD5E40F096B4A13F;
constexpr int kMaxRank = 64;

std::optional<DType> TypeOf(int code, int bits) {
  constexpr const char* kNames[] = {"int", "uint", "float", "", "bfloat"};
  if (code == 6) return DType::Bool();
  if (code < 0 || code >= 5 || !*kNames[code]) return std::nullopt;
  return DType::FromString(absl::StrCat(kNames[code], bits));
}

// The tensor that the bytes are; null where they are none.
graph::Expr TensorIn(std::string_view encoded) {
  Bytes bytes(encoded);
  const auto magic = bytes.Next<uint64_t>(), reserved = bytes.Next<uint64_t>();
  const auto device = bytes.Next<int32_t>(), number = bytes.Next<int32_t>();
  const auto rank = bytes.Next<int32_t>();
  const auto code = bytes.Next<uint8_t>(), bits = bytes.Next<uint8_t>();
  const auto lanes = bytes.Next<uint16_t>();
  const bool has_header = reserved && device && number && lanes;
  if (!has_header || magic != kMagic || *lanes != 1) return graph::Expr();
  const std::optional<DType> dtype = TypeOf(*code, *bits);
  if (!dtype || *rank < 0 || *rank > kMaxRank) return graph::Expr();
  std::vector<int64_t> shape;
  int64_t size = dtype->bytes();
  for (int d = 0; d < *rank; ++d) {
    const auto extent = bytes.Next<int64_t>();
    if (!extent || *extent < 0 ||
        __builtin_mul_overflow(size, *extent, &size)) {
      return graph::Expr();
    }
    shape.push_back(*extent);
  }
  const auto count = bytes.Next<int64_t>();
  if (!count || *count != size ||
      bytes.rest().size() != static_cast<size_t>(size)) {
    return graph::Expr();
  }
  absl::StatusOr<Blob> data = Blob::Copy(bytes.rest());
  if (!data.ok()) return graph::Expr();
  return graph::Expr(
      new graph::ConstantNode(*dtype, std::move(shape), *std::move(data)));
}

// --- The graph of nodes.

class Nodes {
 public:
  explicit Nodes(const Json& json) : nodes_(json.Field("nodes")) {}

  // The node that `index` names; nullptr for none.
  const Json* At(const Json* index) const {
    const bool is_number = nodes_ && index && index->number >= 0;
    const size_t count = nodes_ ? nodes_->items.size() : 0;
    if (!is_number || index->number >= static_cast<double>(count)) {
      return nullptr;
    }
    return &nodes_->items[static_cast<size_t>(index->number)];
  }
  const Json* DataAt(const Json* index) const {
    const Json* node = At(index);
    return node ? node->Field("data") : nullptr;
  }
  graph::Expr ConstantAt(const Json& index) const {
    const Json* object = DataAt(&index);
    const Json* value = object ? DataAt(object->Field("value")) : nullptr;
    std::string bytes;
    if (!value || !absl::Base64Unescape(value->text, &bytes)) {
      return graph::Expr();
    }
    return TensorIn(bytes);
  }

 private:
  const Json* nodes_;
};

}  // namespace

absl::StatusOr<Metadata> ReadMetadata(std::string_view json) {
  KILN_ASSIGN_OR_RETURN(const Json tree, JsonReader(json).Read());
  const Nodes nodes(tree);
  const Json* kinds = nodes.DataAt(tree.Field("root_index"));
  if (!kinds || kinds->items.size() % 2 != 0) {
    return absl::InvalidArgumentError(
        "the metadata has no root that is a map of kinds");
  }
  Metadata metadata;
  for (size_t i = 0; i < kinds->items.size(); i += 2) {
    const Json* kind = nodes.DataAt(&kinds->items[i]);
    const Json* objects = nodes.DataAt(&kinds->items[i + 1]);
    if (!kind || !objects) continue;
    for (const Json& index : objects->items) {
      metadata[kind->text].push_back(nodes.ConstantAt(index));
    }
  }
  return metadata;
}

}  // namespace kiln::script
