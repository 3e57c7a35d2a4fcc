// Modules as messages and bytes, both ways.
//
// What is written and read again is structurally equal, with the same names,
// ids and sharing. Reading refuses, with the place and the reason: a schema
// version that this build does not know, references that are not to earlier
// nodes of the right sort, unknown kinds and types, nesting deeper than
// kMaxDepth, tables that expand to more than kMaxTreeSize nodes, and programs
// that are not well formed (see ir/verify). No input crashes it.
#ifndef KILN_IR_SERIAL_SERIAL_H_
#define KILN_IR_SERIAL_SERIAL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/ir/proto/module.pb.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Version 1, which is still read, holds graph functions as text.
inline constexpr uint32_t kModuleSchemaVersion = 2;
inline constexpr uint32_t kOldestModuleSchemaVersion = 1;
inline constexpr int kMaxDepth = 1000;
inline constexpr int64_t kMaxTreeSize = int64_t{1} << 24;

proto::Module ModuleToProto(const Module& module);
absl::StatusOr<Module> ModuleFromProto(const proto::Module& message);

// The message in wire format. The same module gives the same bytes.
std::string SerializeModule(const Module& module);
absl::StatusOr<Module> ParseModuleBytes(std::string_view bytes);

}  // namespace kiln

#endif  // KILN_IR_SERIAL_SERIAL_H_
