// A module is a header, its attributes and its functions, each with a table of
// nodes of its own (writer.cc). Protobuf takes the first part of a message for
// a message where it is cut between two fields; hence counts precede what they
// count, in the module and in each function:
//
//   function_count: 2, functions: [gemm]     "does not hold as many functions"
//   node_count: 40, nodes: 17 of them        "holds 17 nodes of 40"
//
// A function is verified before it is handed out, since whoever holds it relies
// on its form. The names of the module and of its functions have to
// be identifiers, since text is written with them as they stand.
#include "kiln/ir/serial/serial.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/serial/graph.h"
#include "kiln/ir/serial/reader.h"
#include "kiln/ir/serial/writer.h"
#include "kiln/ir/text/python/keyword.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/graph_reader.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {

using serial_internal::Reader;
using serial_internal::Writer;

namespace {

void WriteFunction(const Function& f, proto::Function* out) {
  Writer writer(out->mutable_nodes());
  out->set_name(f.name);
  out->set_is_private(f.is_private);
  out->set_next_id(f.next_id);
  for (const Param& param : f.params) {
    proto::Param* message = out->add_params();
    message->set_var(writer.Ref(static_cast<const Expr&>(param.var)));
    message->set_buffer(writer.Ref(param.buffer));
  }
  writer.Write(f.attrs, out->mutable_attrs());
  out->set_body(writer.Ref(f.body));
  out->set_node_count(static_cast<uint32_t>(out->nodes_size()));
}

absl::StatusOr<Function> ReadFunction(const proto::Function& message) {
  Reader reader(absl::StrCat("function \"", message.name(), "\""));
  if (static_cast<int64_t>(message.node_count()) != message.nodes_size()) {
    reader.Fail(absl::StrCat("holds ", message.nodes_size(), " nodes of ",
                             message.node_count(), "; the message is cut off"));
    return reader.status();
  }
  reader.ReadTable(message.nodes());
  Function f;
  f.name = message.name();
  f.is_private = message.is_private();
  f.next_id = message.next_id();
  for (const proto::Param& param : message.params()) {
    Var var = reader.GetVar(param.var(), /*optional=*/true);
    f.params.push_back(
        {std::move(var), reader.GetBuffer(param.buffer(), /*optional=*/true)});
  }
  f.attrs = reader.GetAttrs(message.attrs());
  f.body = reader.GetStmt(message.body());
  if (!reader.ok()) return reader.status();
  KILN_RETURN_IF_ERROR(VerifyFunction(f, {.level = LevelOf(f)}));
  return f;
}

// Text is written with the names as they stand, and has to be read back.
absl::Status CheckName(std::string_view what, const std::string& name) {
  const auto fits = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '_';
  };
  const bool is_identifier =
      !name.empty() && std::all_of(name.begin(), name.end(), fits) &&
      !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
      !python::IsKeyword(name);
  if (is_identifier) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      std::string(what), " is called \"", absl::CHexEscape(name),
      "\", which is no identifier, so that its text could not be read back; "
      "rename it to letters, digits and `_`"));
}

absl::Status CheckHeader(const proto::Module& message) {
  if (message.schema_version() < kOldestModuleSchemaVersion ||
      message.schema_version() > kModuleSchemaVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("the module has schema version ", message.schema_version(),
                     " and this build reads versions ",
                     kOldestModuleSchemaVersion, " to ", kModuleSchemaVersion,
                     "; write it again with a matching build, or as text"));
  }
  if (static_cast<int64_t>(message.function_count()) !=
          message.functions_size() ||
      static_cast<int64_t>(message.graph_function_count()) !=
          message.graph_functions_size()) {
    return absl::InvalidArgumentError(
        "the module does not hold as many functions as it says; the message "
        "is cut off");
  }
  return absl::OkStatus();
}

// Version 1 holds graph functions as text: a decorated def, in which `cls` and
// `Module` stand for the module.
absl::StatusOr<graph::GraphFunction> ReadGraphText(
    const proto::GraphFunction& g, const proto::Module& message) {
  const python::Source source(g.name(), g.source());
  KILN_ASSIGN_OR_RETURN(const std::vector<python::Stmt> stmts,
                        python::ParseFile(source));
  if (stmts.size() != 1 || stmts[0].kind != python::StmtKind::kFunction ||
      stmts[0].name != g.name()) {
    return source.Error({}, "one graph function of this name is needed here");
  }
  const script::Surroundings around;
  std::set<std::string> functions;
  for (const proto::Function& f : message.functions()) {
    functions.insert(f.name());
  }
  for (const proto::GraphFunction& other : message.graph_functions()) {
    functions.insert(other.name());
  }
  return script::ReadGraphFunction(
      source, {around, {"Module", "cls", message.name()}, std::move(functions)},
      stmts[0]);
}

}  // namespace

proto::Module ModuleToProto(const Module& module) {
  proto::Module message;
  message.set_schema_version(kModuleSchemaVersion);
  message.set_name(module.name);
  message.set_function_count(static_cast<uint32_t>(module.functions.size()));
  message.set_graph_function_count(
      static_cast<uint32_t>(module.graph_functions.size()));
  Writer writer(message.mutable_nodes());
  writer.Write(module.attrs, message.mutable_attrs());
  for (const Function& f : module.functions) {
    WriteFunction(f, message.add_functions());
  }
  for (const graph::GraphFunction& g : module.graph_functions) {
    serial_internal::WriteGraph(g, message.add_graph_functions());
  }
  return message;
}

absl::StatusOr<Module> ModuleFromProto(const proto::Module& message) {
  KILN_RETURN_IF_ERROR(CheckHeader(message));
  KILN_RETURN_IF_ERROR(CheckName("the module", message.name()));
  Module module;
  module.name = message.name();
  Reader reader("module attributes");
  reader.ReadTable(message.nodes());
  module.attrs = reader.GetAttrs(message.attrs());
  if (!reader.ok()) return reader.status();
  for (const proto::Function& function : message.functions()) {
    KILN_RETURN_IF_ERROR(CheckName("a function", function.name()));
    KILN_ASSIGN_OR_RETURN(Function f, ReadFunction(function));
    if (module.Find(f.name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module has two functions called ", f.name));
    }
    module.functions.push_back(std::move(f));
  }
  for (const proto::GraphFunction& g : message.graph_functions()) {
    KILN_RETURN_IF_ERROR(CheckName("a function", g.name()));
    KILN_ASSIGN_OR_RETURN(graph::GraphFunction f,
                          message.schema_version() == 1
                              ? ReadGraphText(g, message)
                              : serial_internal::ReadGraph(g));
    if (module.Find(f->name) || module.FindGraph(f->name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the module has two functions called ", f->name));
    }
    module.graph_functions.push_back(std::move(f));
  }
  return module;
}

std::string SerializeModule(const Module& module) {
  const proto::Module message = ModuleToProto(module);
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

absl::StatusOr<Module> ParseModuleBytes(std::string_view bytes) {
  proto::Module message;
  constexpr size_t kLimit = size_t{1} << 30;
  if (bytes.size() > kLimit ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("these ", bytes.size(),
                     " bytes are no module in proto form; a program in "
                     "text is saved as UTF-8 and has no byte 0"));
  }
  return ModuleFromProto(message);
}

}  // namespace kiln
