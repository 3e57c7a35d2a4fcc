// Fills the node table of a function. Internal to ir/serial.
#ifndef KILN_IR_SERIAL_WRITER_H_
#define KILN_IR_SERIAL_WRITER_H_

#include <cstdint>
#include <unordered_map>

#include "google/protobuf/repeated_field.h"
#include "kiln/ir/proto/module.pb.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::serial_internal {

class Writer {
 public:
  using Nodes = google::protobuf::RepeatedPtrField<proto::Node>;
  explicit Writer(Nodes* nodes) : nodes_(nodes) {}

  // The reference of a node, which is added to the table when it is new. Null
  // is 0.
  uint32_t Ref(const Expr& e);
  uint32_t Ref(const Buffer& buffer);
  uint32_t Ref(const Stmt& s);

  void Write(const AttrMap& map, proto::AttrMap* out);

 private:
  using Refs = google::protobuf::RepeatedField<uint32_t>;

  void Write(const Expr& e, proto::Expr* out);
  void Write(const BufferNode& buffer, proto::Buffer* out);
  void Write(const Stmt& s, proto::Stmt* out);
  void Write(const ForNode& loop, proto::For* out);
  void Write(const BlockRealizeNode& realize, proto::BlockRealize* out);
  void Write(const BlockNode& block, proto::Block* out);
  void Write(const BufferRegion& region, proto::BufferRegion* out);
  void Write(const Range& range, proto::Range* out);
  void Write(const Attr& attr, proto::Attr* out);
  template <typename T>
  void WriteRefs(const std::vector<T>& list, Refs* out) {
    for (const T& element : list) out->Add(Ref(element));
  }
  // Appends a finished node; its reference.
  uint32_t Append(const void* key, proto::Node node);

  Nodes* nodes_;
  std::unordered_map<const void*, uint32_t> refs_;
};

}  // namespace kiln::serial_internal

#endif  // KILN_IR_SERIAL_WRITER_H_
