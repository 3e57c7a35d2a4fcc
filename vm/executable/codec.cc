// Field by field. Numbers of enums are looked at before they become enums; what
// indices name is checked by Verify (verify.h). An operand such as %5, read for
// the last time, is 5 * 8 + 4.
#include "kiln/vm/executable/codec.h"

#include <map>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln::vm {
namespace {

namespace pb = vm_proto;

constexpr uint64_t kLastUse = 4, kKindMask = 3, kIndexShift = 3;

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

class Writer {
 public:
  Writer(pb::Executable* message, std::vector<Blob>* blobs)
      : message_(message), blobs_(blobs) {}

  void Write(const Executable& executable) {
    message_->set_target(executable.target);
    message_->set_compiler(executable.compiler);
    for (const std::string& feature : executable.cpu_features) {
      message_->add_cpu_features(feature);
    }
    for (const Function& f : executable.functions) WriteFunction(f);
    for (const Kernel& kernel : executable.kernels) {
      pb::Kernel* out = message_->add_kernels();
      out->set_symbol(kernel.symbol);
      out->set_signature(Serialize(kernel.signature));
      out->set_object(IndexOf(kernel.object));
      if (!kernel.flop) continue;
      WriteDim(kernel.flop->count, out->mutable_flop()->mutable_count());
      out->mutable_flop()->set_is_bound(kernel.flop->is_bound);
    }
    for (const Type& type : executable.types) WriteType(type);
    for (const Constant& constant : executable.constants) {
      WriteConstant(constant);
    }
    for (const std::string& text : executable.strings) {
      message_->add_strings(text);
    }
  }

 private:
  uint32_t IndexOf(const Blob& blob) {
    const auto [it, added] =
        index_.emplace(blob.digest(), static_cast<uint32_t>(blobs_->size()));
    if (added) blobs_->push_back(blob);
    return it->second;
  }

  static void WriteDType(DType dtype, pb::DataType* out) {
    out->set_code(static_cast<uint32_t>(dtype.code()));
    out->set_bits(dtype.bits());
    out->set_lanes(dtype.lanes());
  }

  static void WriteDim(const KernelDim& dim, pb::Dim* out) {
    for (const KernelDim::Step& step : dim.steps()) {
      out->add_steps(static_cast<int64_t>(step.op));
      out->add_steps(step.value);
    }
  }

  void WriteType(const Type& type) {
    pb::Type* out = message_->add_types();
    out->set_kind(static_cast<uint32_t>(type.kind));
    WriteDType(type.dtype, out->mutable_dtype());
    out->set_rank(type.rank);
    out->set_has_dims(type.has_dims);
    for (const KernelDim& dim : type.dims) WriteDim(dim, out->add_dims());
    for (int32_t field : type.fields) out->add_fields(field);
  }

  void WriteFunction(const Function& f) {
    pb::Function* out = message_->add_functions();
    out->set_name(f.name);
    for (const std::string& param : f.params) out->add_params(param);
    out->set_num_registers(f.num_registers);
    for (const std::string& dim : f.dims) out->add_dims(dim);
    for (const KernelDim& number : f.numbers) {
      WriteDim(number, out->add_numbers());
    }
    out->set_is_private(f.is_private);
    for (const Instruction& instruction : f.code) {
      WriteInstruction(instruction, out->add_code());
    }
  }

  static void WriteInstruction(const Instruction& instruction,
                               pb::Instruction* out) {
    out->set_op(static_cast<uint32_t>(instruction.op));
    out->set_dst(instruction.dst);
    out->set_index(instruction.index);
    out->set_target(instruction.target);
    out->set_label(instruction.label);
    for (const Operand& arg : instruction.args) {
      out->add_args(static_cast<uint64_t>(arg.index) << kIndexShift |
                    (arg.is_last ? kLastUse : 0) |
                    static_cast<uint64_t>(arg.kind));
    }
  }

  void WriteConstant(const Constant& constant) {
    pb::Constant* out = message_->add_constants();
    if (const auto* tensor = std::get_if<TensorConstant>(&constant)) {
      WriteDType(tensor->dtype, out->mutable_tensor()->mutable_dtype());
      for (int64_t extent : tensor->shape) {
        out->mutable_tensor()->add_shape(extent);
      }
      out->mutable_tensor()->set_data(IndexOf(tensor->data));
    } else if (const auto* integer = std::get_if<int64_t>(&constant)) {
      out->set_integer(*integer);
    } else if (const auto* real = std::get_if<double>(&constant)) {
      out->set_real(*real);
    } else if (const auto* text = std::get_if<std::string>(&constant)) {
      out->set_text(*text);
    } else {
      WriteDType(std::get<DType>(constant), out->mutable_dtype());
    }
  }

  pb::Executable* message_;
  std::vector<Blob>* blobs_;
  std::map<Sha256Digest, uint32_t> index_;
};

class Reader {
 public:
  explicit Reader(const std::function<absl::StatusOr<Blob>(uint32_t)>& blob)
      : blob_(blob) {}

  absl::StatusOr<Executable> Read(const pb::Executable& message) {
    Executable executable;
    executable.target = message.target();
    executable.compiler = message.compiler();
    executable.cpu_features.assign(message.cpu_features().begin(),
                                   message.cpu_features().end());
    for (const pb::Function& f : message.functions()) {
      KILN_ASSIGN_OR_RETURN(Function function, ReadFunction(f));
      executable.functions.push_back(std::move(function));
    }
    for (const pb::Kernel& in : message.kernels()) {
      KILN_ASSIGN_OR_RETURN(Kernel kernel, ReadKernel(in));
      executable.kernels.push_back(std::move(kernel));
    }
    for (const pb::Type& in : message.types()) {
      KILN_ASSIGN_OR_RETURN(Type type, ReadType(in));
      executable.types.push_back(std::move(type));
    }
    for (const pb::Constant& in : message.constants()) {
      KILN_ASSIGN_OR_RETURN(Constant constant, ReadConstant(in));
      executable.constants.push_back(std::move(constant));
    }
    executable.strings.assign(message.strings().begin(),
                              message.strings().end());
    return executable;
  }

 private:
  // An enum whose largest value is `last`.
  template <typename Enum>
  static absl::StatusOr<Enum> ReadEnum(uint64_t value, Enum last,
                                       std::string_view what) {
    if (value <= static_cast<uint64_t>(last)) return static_cast<Enum>(value);
    return Invalid(absl::StrCat("unknown ", std::string(what), " ", value));
  }

  static absl::StatusOr<DType> ReadDType(const pb::DataType& in) {
    KILN_ASSIGN_OR_RETURN(TypeCode code,
                          ReadEnum(in.code(), TypeCode::kVoid, "type code"));
    const DType dtype(code, static_cast<int>(in.bits()));
    const bool is_known =
        dtype.is_void() || DType::FromString(dtype.ToString()) == dtype;
    if (in.bits() > 64 || in.lanes() != 1 || !is_known) {
      return Invalid("an unknown data type");
    }
    return dtype;
  }

  static absl::StatusOr<KernelDim> ReadDim(const pb::Dim& in) {
    std::vector<KernelDim::Step> steps;
    if (in.steps_size() % 2 != 0) return Invalid("half a step of an extent");
    for (int i = 0; i < in.steps_size(); i += 2) {
      KILN_ASSIGN_OR_RETURN(KernelDim::Op op,
                            ReadEnum(static_cast<uint64_t>(in.steps(i)),
                                     KernelDim::Op::kMax, "operation"));
      steps.push_back({op, in.steps(i + 1)});
    }
    std::optional<KernelDim> dim = KernelDim::FromSteps(std::move(steps));
    if (!dim) return Invalid("an extent is no expression");
    for (const KernelDim::Step& step : dim->steps()) {
      const bool is_wrong = step.op == KernelDim::Op::kScalar &&
                            (step.value < 0 || step.value > INT32_MAX);
      if (is_wrong) return Invalid("an extent of unknown dims");
    }
    return *std::move(dim);
  }

  absl::StatusOr<Kernel> ReadKernel(const pb::Kernel& in) const {
    Kernel kernel;
    kernel.symbol = in.symbol();
    KILN_ASSIGN_OR_RETURN(kernel.signature,
                          ParseKernelSignature(in.signature()));
    KILN_ASSIGN_OR_RETURN(kernel.object, blob_(in.object()));
    if (!in.has_flop()) return kernel;
    kernel.flop.emplace().is_bound = in.flop().is_bound();
    KILN_ASSIGN_OR_RETURN(kernel.flop->count, ReadDim(in.flop().count()));
    return kernel;
  }

  static absl::StatusOr<Type> ReadType(const pb::Type& in) {
    Type type;
    KILN_ASSIGN_OR_RETURN(
        type.kind, ReadEnum(in.kind(), Type::Kind::kFunction, "kind of type"));
    KILN_ASSIGN_OR_RETURN(type.dtype, ReadDType(in.dtype()));
    type.rank = in.rank();
    type.has_dims = in.has_dims();
    for (const pb::Dim& dim : in.dims()) {
      KILN_ASSIGN_OR_RETURN(KernelDim read, ReadDim(dim));
      type.dims.push_back(std::move(read));
    }
    type.fields.assign(in.fields().begin(), in.fields().end());
    return type;
  }

  static absl::StatusOr<Function> ReadFunction(const pb::Function& in) {
    Function f;
    f.name = in.name();
    f.params.assign(in.params().begin(), in.params().end());
    f.num_registers = in.num_registers();
    f.dims.assign(in.dims().begin(), in.dims().end());
    for (const pb::Dim& number : in.numbers()) {
      KILN_ASSIGN_OR_RETURN(KernelDim read, ReadDim(number));
      f.numbers.push_back(std::move(read));
    }
    f.is_private = in.is_private();
    for (const pb::Instruction& instruction : in.code()) {
      KILN_ASSIGN_OR_RETURN(Instruction read, ReadInstruction(instruction));
      f.code.push_back(std::move(read));
    }
    return f;
  }

  static absl::StatusOr<Instruction> ReadInstruction(
      const pb::Instruction& in) {
    Instruction instruction;
    KILN_ASSIGN_OR_RETURN(instruction.op,
                          ReadEnum(in.op(), Opcode::kView, "opcode"));
    instruction.dst = in.dst();
    instruction.index = in.index();
    instruction.target = in.target();
    instruction.label = in.label();
    for (uint64_t arg : in.args()) {
      Operand operand;
      KILN_ASSIGN_OR_RETURN(
          operand.kind,
          ReadEnum(arg & kKindMask, Operand::Kind::kNumber, "operand"));
      operand.is_last = (arg & kLastUse) != 0;
      if (arg >> kIndexShift > INT32_MAX) return Invalid("an operand's index");
      operand.index = static_cast<int32_t>(arg >> kIndexShift);
      instruction.args.push_back(operand);
    }
    return instruction;
  }

  absl::StatusOr<Constant> ReadConstant(const pb::Constant& in) const {
    switch (in.value_case()) {
      case pb::Constant::kTensor: {
        TensorConstant tensor;
        KILN_ASSIGN_OR_RETURN(tensor.dtype, ReadDType(in.tensor().dtype()));
        tensor.shape.assign(in.tensor().shape().begin(),
                            in.tensor().shape().end());
        KILN_ASSIGN_OR_RETURN(tensor.data, blob_(in.tensor().data()));
        return Constant(std::move(tensor));
      }
      case pb::Constant::kInteger:
        return Constant(static_cast<int64_t>(in.integer()));
      case pb::Constant::kReal:
        return Constant(in.real());
      case pb::Constant::kText:
        return Constant(in.text());
      case pb::Constant::kDtype: {
        KILN_ASSIGN_OR_RETURN(DType dtype, ReadDType(in.dtype()));
        return Constant(dtype);
      }
      case pb::Constant::VALUE_NOT_SET:
        break;
    }
    return Invalid("a constant without a value");
  }

  const std::function<absl::StatusOr<Blob>(uint32_t)>& blob_;
};

}  // namespace

void ToMessage(const Executable& executable, pb::Executable* message,
               std::vector<Blob>* blobs) {
  Writer(message, blobs).Write(executable);
}

absl::StatusOr<Executable> FromMessage(
    const pb::Executable& message,
    const std::function<absl::StatusOr<Blob>(uint32_t)>& blob) {
  return Reader(blob).Read(message);
}

}  // namespace kiln::vm
