#include "kiln/schedule/trace/serial.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/script_lambda.h"

namespace kiln {
namespace {

// Deeper nesting in an argument is not written by Kiln.
constexpr int kMaxDepth = 50;

class Writer {
 public:
  explicit Writer(const Trace& trace) : numbers_(trace.rvs.size()) {}

  void Write(const Instruction& instruction, InstructionProto* out) {
    out->set_name(std::string(instruction.kind->name));
    for (const Arg& arg : instruction.args) Write(arg, out->add_args());
    out->set_num_outputs(static_cast<uint32_t>(instruction.outputs.size()));
    for (const Rv& rv : instruction.outputs) numbers_[rv.index] = next_++;
    for (int64_t value : instruction.decision) out->add_decision(value);
    out->set_fixed(instruction.fixed);
  }

 private:
  void Write(const Arg& arg, ArgProto* out) const {
    if (arg.boolean()) out->set_boolean(*arg.boolean());
    if (arg.integer()) out->set_integer(*arg.integer());
    if (arg.real()) out->set_real(*arg.real());
    if (arg.string()) out->set_text(*arg.string());
    if (arg.rv()) out->set_rv(numbers_[arg.rv()->index]);
    if (arg.index_map()) {
      out->set_index_map(ToText(*arg.index_map(), [&](const Rv& rv) {
        return absl::StrCat("v", numbers_[rv.index]);
      }));
    }
    if (arg.list()) {
      auto* list = out->mutable_list();
      for (const Arg& item : *arg.list()) Write(item, list->add_items());
    }
    if (arg.dict()) {
      auto* dict = out->mutable_dict();
      for (const auto& [key, item] : *arg.dict()) {
        dict->add_keys(key);
        Write(item, dict->add_values());
      }
    }
    if (const RvArithmetic* e = arg.arithmetic()) {
      auto* arithmetic = out->mutable_arithmetic();
      arithmetic->set_op(std::string(1, e->op));
      Write(e->a, arithmetic->mutable_a());
      Write(e->b, arithmetic->mutable_b());
    }
  }

  std::vector<uint32_t> numbers_;
  uint32_t next_ = 0;
};

class Reader {
 public:
  absl::Status Read(const InstructionProto& proto) {
    Instruction instruction;
    instruction.kind = FindInstruction(proto.name());
    if (!instruction.kind) {
      return absl::InvalidArgumentError(
          absl::StrCat("trace: there is no instruction `", proto.name(), "`"));
    }
    for (const ArgProto& arg : proto.args()) {
      KILN_ASSIGN_OR_RETURN(Arg value, Read(arg, 0));
      instruction.args.push_back(std::move(value));
    }
    if (proto.num_outputs() > 1 << 16) {
      return absl::InvalidArgumentError("trace: too many outputs");
    }
    for (uint32_t i = 0; i < proto.num_outputs(); ++i) {
      instruction.outputs.push_back(
          trace_.NewRv(instruction.kind->output_kind));
    }
    instruction.decision.assign(proto.decision().begin(),
                                proto.decision().end());
    instruction.fixed = proto.fixed();
    trace_.instructions.push_back(std::move(instruction));
    return absl::OkStatus();
  }

  absl::StatusOr<Trace> Finish() {
    KILN_RETURN_IF_ERROR(Validate(trace_));
    return std::move(trace_);
  }

 private:
  absl::StatusOr<Arg> ReadList(const ArgProto::List& proto, int depth) {
    ArgList list;
    for (const ArgProto& item : proto.items()) {
      KILN_ASSIGN_OR_RETURN(Arg value, Read(item, depth));
      list.push_back(std::move(value));
    }
    return Arg(std::move(list));
  }

  absl::StatusOr<Arg> ReadDict(const ArgProto::Dict& proto, int depth) {
    if (proto.keys_size() != proto.values_size()) {
      return absl::InvalidArgumentError("trace: a dictionary is malformed");
    }
    ArgDict dict;
    for (int i = 0; i < proto.keys_size(); ++i) {
      KILN_ASSIGN_OR_RETURN(Arg value, Read(proto.values(i), depth));
      dict.emplace_back(proto.keys(i), std::move(value));
    }
    return Arg(std::move(dict));
  }

  absl::StatusOr<Arg> ReadArithmetic(const ArgProto::Arithmetic& proto,
                                     int depth) {
    constexpr std::string_view kOperators = "+-*/%";
    if (proto.op().size() != 1 ||
        kOperators.find(proto.op()[0]) == std::string_view::npos) {
      return absl::InvalidArgumentError("trace: unknown operator");
    }
    KILN_ASSIGN_OR_RETURN(Arg a, Read(proto.a(), depth));
    KILN_ASSIGN_OR_RETURN(Arg b, Read(proto.b(), depth));
    const auto is_int = [](const Arg& arg) {
      return arg.integer() || arg.arithmetic() ||
             (arg.rv() && arg.rv()->kind == RvKind::kInt);
    };
    if (!is_int(a) || !is_int(b)) {
      return absl::InvalidArgumentError("trace: arithmetic on no integers");
    }
    return Arg(std::make_shared<const RvArithmetic>(
        RvArithmetic{proto.op()[0], std::move(a), std::move(b)}));
  }

  absl::StatusOr<Arg> ReadIndexMapText(const std::string& text) {
    const python::Source source("<index map>", text);
    KILN_ASSIGN_OR_RETURN(const python::Expr e,
                          python::ParseExpression(source));
    if (e.kind != python::ExprKind::kLambda) {
      return absl::InvalidArgumentError("trace: an index map is no lambda");
    }
    std::map<std::string, Arg> names;
    for (size_t i = 0; i < trace_.rvs.size(); ++i) {
      if (trace_.rvs[i] != RvKind::kInt) continue;
      names[absl::StrCat("v", i)] = Rv{RvKind::kInt, static_cast<int>(i)};
    }
    return ReadIndexMap(source, e, names);
  }

  absl::StatusOr<Arg> Read(const ArgProto& proto, int depth) {
    if (depth > kMaxDepth) {
      return absl::InvalidArgumentError("trace: arguments nest too deeply");
    }
    switch (proto.value_case()) {
      case ArgProto::kBoolean:
        return Arg(proto.boolean());
      case ArgProto::kInteger:
        return Arg(static_cast<int64_t>(proto.integer()));
      case ArgProto::kReal:
        return Arg(proto.real());
      case ArgProto::kText:
        return Arg(proto.text());
      case ArgProto::kRv:
        if (proto.rv() >= trace_.rvs.size()) {
          return absl::InvalidArgumentError(
              "trace: a random variable is used before it is made");
        }
        return Arg(Rv{trace_.rvs[proto.rv()], static_cast<int>(proto.rv())});
      case ArgProto::kList:
        return ReadList(proto.list(), depth + 1);
      case ArgProto::kDict:
        return ReadDict(proto.dict(), depth + 1);
      case ArgProto::kArithmetic:
        return ReadArithmetic(proto.arithmetic(), depth + 1);
      case ArgProto::kIndexMap:
        return ReadIndexMapText(proto.index_map());
      case ArgProto::VALUE_NOT_SET:
        break;
    }
    return Arg();
  }

  Trace trace_;
};

}  // namespace

TraceProto ToProto(const Trace& trace) {
  TraceProto proto;
  proto.set_version(kTraceVersion);
  Writer writer(trace);
  for (const Instruction& instruction : trace.instructions) {
    writer.Write(instruction, proto.add_instructions());
  }
  return proto;
}

absl::StatusOr<Trace> FromProto(const TraceProto& proto) {
  if (proto.version() != kTraceVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("trace: version ", proto.version(),
                     " is unknown; this build reads version ", kTraceVersion));
  }
  Reader reader;
  for (const InstructionProto& instruction : proto.instructions()) {
    KILN_RETURN_IF_ERROR(reader.Read(instruction));
  }
  return reader.Finish();
}

}  // namespace kiln
