// Graph functions as messages, both ways. Internal to ir/serial.
#ifndef KILN_IR_SERIAL_GRAPH_H_
#define KILN_IR_SERIAL_GRAPH_H_

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/proto/module.pb.h"

namespace kiln::serial_internal {

// The names of the kinds: "Call", "TensorInfo".
const char* NameOf(graph::GraphKind kind);
const char* NameOf(graph::InfoKind kind);

void WriteGraph(const graph::GraphFunction& f, proto::GraphFunction* out);

// kInvalidArgument, with the function, the node and the reason.
absl::StatusOr<graph::GraphFunction> ReadGraph(
    const proto::GraphFunction& message);

}  // namespace kiln::serial_internal

#endif  // KILN_IR_SERIAL_GRAPH_H_
