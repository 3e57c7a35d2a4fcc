// The metadata of a module is a list of nodes as JSON, with tensors as base64.
// One node leads from the name of a kind to the list of its constants, by the
// numbers of nodes:
//
//   {"type": "ffi.Map", "data": [0, 3]}            0: "ir.GenericConst"
//   {"type": "ffi.Array", "data": [2]}             metadata[...][0] is node 2
//   {"type": "ir.GenericConst", "data": {"value": 1, ...}}
//   {"type": "ffi.Tensor", "data": "P6G0lvBAXt0..."}
//
// A tensor is a header (magic and reserved words, device), its rank, its type
// (code, bits, lanes), its extents, its size in bytes, and its elements.
#include "kiln/tests/conformance/known_constants.h"

#include <google/protobuf/struct.pb.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "kiln/base/json.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/graph/visit.h"

namespace kiln {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

// Numbers in the order of the bytes.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T Next() {
    T value = {};
    const std::string_view raw = Take(sizeof(T));
    if (raw.size() == sizeof(T)) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  std::string_view Take(size_t count) {
    is_complete_ = is_complete_ && count <= rest_.size();
    if (!is_complete_) return {};
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  bool is_complete() const { return is_complete_; }

 private:
  std::string_view rest_;
  bool is_complete_ = true;
};

std::optional<DType> TypeOf(int code, int bits) {
  if (code == 0) return DType::Int(bits);
  if (code == 1) return DType::UInt(bits);
  if (code == 2) return DType::Float(bits);
  if (code == 6) return DType::Bool();
  return std::nullopt;
}

// Null where it is no tensor that Kiln has.
graph::Expr TensorOf(const std::string& base64) {
  std::string raw;
  if (!absl::Base64Unescape(base64, &raw)) return {};
  Bytes bytes(raw);
  bytes.Take(24);
  const auto rank = bytes.Next<int32_t>();
  const auto code = bytes.Next<uint8_t>();
  const auto bits = bytes.Next<uint8_t>();
  const auto lanes = bytes.Next<uint16_t>();
  std::vector<int64_t> shape;
  for (int i = 0; i < rank && bytes.is_complete(); ++i) {
    shape.push_back(bytes.Next<int64_t>());
  }
  const std::string_view data = bytes.Take(bytes.Next<int64_t>());
  const std::optional<DType> dtype = TypeOf(code, bits);
  if (!bytes.is_complete() || !dtype || lanes != 1) return {};
  absl::StatusOr<Blob> blob = Blob::Copy(data);
  if (!blob.ok()) return {};
  return graph::Expr(
      new graph::ConstantNode(*dtype, std::move(shape), *std::move(blob)));
}

// The text between the quotes of load_json("""..."""), unescaped.
std::string MetadataOf(const std::string& text) {
  const std::string begin = "load_json(\"\"\"";
  const size_t at = text.find(begin);
  if (at == std::string::npos) return "";
  const size_t end = text.find("\"\"\")", at + begin.size());
  std::string json;
  for (size_t i = at + begin.size(); i < end && i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < end) ++i;
    json += text[i];
  }
  return json;
}

class Metadata {
 public:
  explicit Metadata(const std::string& text) {
    const std::string json = MetadataOf(text);
    if (!json.empty()) is_read_ = FromJson(json, &root_).ok();
  }

  // The constants of the last kind that is named; only one is, in practice.
  std::vector<graph::Expr> Constants() const {
    std::vector<graph::Expr> constants;
    const Value* map = Node(Field(root_, "root_index"));
    if (!is_read_ || !map) return constants;
    const auto& pairs = Data(*map).list_value().values();
    const Value* list = pairs.size() < 2 ? nullptr : Node(&pairs[1]);
    if (!list) return constants;
    for (const Value& index : Data(*list).list_value().values()) {
      constants.push_back(Constant(Node(&index)));
    }
    return constants;
  }

 private:
  static const Value* Field(const Struct& object, const char* key) {
    const auto found = object.fields().find(key);
    return found == object.fields().end() ? nullptr : &found->second;
  }
  static const Value& Data(const Value& node) {
    const Value* data = Field(node.struct_value(), "data");
    return data ? *data : Value::default_instance();
  }
  const Value* Node(const Value* index) const {
    const Value* nodes = Field(root_, "nodes");
    if (!index || !nodes) return nullptr;
    const auto& list = nodes->list_value().values();
    const auto i = static_cast<int>(index->number_value());
    return i >= 0 && i < list.size() ? &list[i] : nullptr;
  }
  graph::Expr Constant(const Value* node) const {
    if (!node) return {};
    const Value* tensor = Node(Field(Data(*node).struct_value(), "value"));
    return tensor ? TensorOf(Data(*tensor).string_value()) : graph::Expr();
  }

  Struct root_;
  bool is_read_ = false;
};

bool AreClose(const graph::ConstantNode& a, const graph::ConstantNode& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  if (!a.is_known() || !b.is_known()) return false;
  if (!a.dtype.is_float()) return a.data->bytes() == b.data->bytes();
  for (int64_t i = 0; i < graph::CountElements(a.shape); ++i) {
    const double x = graph::ElementOf(a, i).As<FloatImmNode>()->value;
    const double y = graph::ElementOf(b, i).As<FloatImmNode>()->value;
    if (std::abs(x - y) > 1e-5 * (1 + std::abs(x))) return false;
  }
  return true;
}

}  // namespace

Module WithKnownConstants(const Module& module, const std::string& text) {
  const std::vector<graph::Expr> known = Metadata(text).Constants();
  Module out = module;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = graph::Rewrite(f, [&](const graph::Expr& below) {
      const auto* constant = below.As<graph::ConstantNode>();
      if (!constant || constant->is_known()) return graph::Expr();
      const auto index = static_cast<size_t>(constant->index);
      return index < known.size() ? known[index] : graph::Expr();
    });
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return out;
}

Module WithConstantsOf(const Module& wanted, const Module& found) {
  std::vector<graph::Expr> constants;
  for (const graph::GraphFunction& f : wanted.graph_functions) {
    graph::Visit(f, [&](const graph::Expr& e) {
      if (e.As<graph::ConstantNode>()) constants.push_back(e);
      return true;
    });
  }
  size_t next = 0;
  Module out = found;
  for (graph::GraphFunction& f : out.graph_functions) {
    const graph::Expr e = graph::Rewrite(f, [&](const graph::Expr& below) {
      const auto* constant = below.As<graph::ConstantNode>();
      if (!constant || next >= constants.size()) return graph::Expr();
      const graph::Expr other = constants[next++];
      const bool is_same =
          AreClose(*constant, *other.As<graph::ConstantNode>());
      return is_same ? other : graph::Expr();
    });
    f = graph::GraphFunction(e.As<graph::FunctionNode>());
  }
  return out;
}

}  // namespace kiln
