// A call takes a frame (registers, dims) and goes through the instructions of
// the function. Frames are kept by depth, so a warm call allocates nothing but
// the tensors that it makes, and these come from a pool. A register whose last
// use an operand is gives its value away: memory of an intermediate tensor is
// the next one's as soon as nothing reads it.
#include "kiln/vm/machine/machine.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/clock.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/machine/builtins.h"
#include "kiln/vm/machine/match.h"
#include "kiln/vm/machine/tensor_pool.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln::vm {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

// A condition: a number, or a tensor of one element.
absl::StatusOr<bool> IsTrue(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer != 0;
  const auto* array = std::get_if<NDArray>(&value);
  if (array && !array->is_null() && array->num_elements() == 1 &&
      array->dtype().is_bool()) {
    return *array->data_as<uint8_t>() != 0;
  }
  return Invalid(
      absl::StrCat("a condition has to be one bool, not ", Describe(value)));
}

// Tensors of fixed extents up to this size are kept, so many of each type, and
// used again when nobody holds them: a call of a small kernel takes less than
// memory from the pool.
constexpr int64_t kSmallBytes = 16 << 10;
constexpr size_t kSmallTensors = 8;

struct Frame {
  std::vector<Value> registers;
  Dims dims;
};

}  // namespace

class Machine::Impl {
 public:
  Impl(std::shared_ptr<const LoadedExecutable> loaded, FunctionTable functions,
       const KernelHost* host, MachineOptions options)
      : loaded_(std::move(loaded)),
        executable_(loaded_->executable()),
        kernels_(loaded_->kernels()),
        constants_(loaded_->constants()),
        functions_(std::move(functions)),
        host_(host),
        options_(std::move(options)) {
    functions_.AddAll(Builtins());
    small_.resize(executable_.types.size());
  }

  const Executable& executable() const { return executable_; }

  // Has to go well ahead of calls.
  absl::Status FindPacked() {
    packed_.resize(executable_.strings.size());
    for (const Function& f : executable_.functions) {
      for (const Instruction& instruction : f.code) {
        if (instruction.op != Opcode::kPacked) continue;
        const std::string& name = executable_.strings[instruction.index];
        packed_[instruction.index] = functions_.Find(name);
        if (packed_[instruction.index] != nullptr) continue;
        const std::string names = functions_.Names();
        return absl::NotFoundError(
            absl::StrCat("function ", f.name, " calls the packed function ",
                         name, ", which nobody gave to the machine; it has ",
                         names.empty() ? "none" : names));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Value> CallByName(std::string_view name,
                                   absl::Span<const Value> args) {
    const Function* f = executable_.Find(name);
    if (!f || f->is_private) {
      return absl::NotFoundError(absl::StrCat("no function is called ",
                                              std::string(name), "; there are ",
                                              PublicNames()));
    }
    left_ = options_.max_instructions;
    return Run(static_cast<int>(f - executable_.functions.data()), args, 0);
  }

  absl::StatusOr<Value> CallOutside(const Closure& closure,
                                    absl::Span<const Value> args) {
    if (closure == nullptr) return Invalid("a null function is called");
    left_ = options_.max_instructions;
    return RunClosure(*closure, args, 0);
  }

 private:
  std::string PublicNames() const {
    std::vector<std::string> names;
    for (const Function& f : executable_.functions) {
      if (!f.is_private) names.push_back(f.name);
    }
    return names.empty() ? "none" : absl::StrJoin(names, ", ");
  }

  Frame& FrameAt(int depth) {
    while (frames_.size() <= static_cast<size_t>(depth)) {
      frames_.push_back(std::make_unique<Frame>());
    }
    return *frames_[depth];
  }

  absl::StatusOr<Value> RunClosure(const ClosureValue& closure,
                                   absl::Span<const Value> args, int depth) {
    if (closure.owner != this) {
      return Invalid("a function of another machine is called");
    }
    std::vector<Value> all(args.begin(), args.end());
    all.insert(all.end(), closure.captured.begin(), closure.captured.end());
    return Run(closure.function, all, depth);
  }

  absl::StatusOr<Value> Run(int index, absl::Span<const Value> args,
                            int depth) {
    const Function& f = executable_.functions[index];
    if (args.size() != f.params.size()) {
      return Invalid(absl::StrCat(f.name, " takes ", f.params.size(),
                                  " arguments (", absl::StrJoin(f.params, ", "),
                                  "), got ", args.size()));
    }
    if (depth >= options_.max_depth) {
      return absl::ResourceExhaustedError(
          absl::StrCat(f.name, " is called within more than ",
                       options_.max_depth, " calls; a recursion without end?"));
    }
    Frame& frame = FrameAt(depth);
    frame.registers.assign(f.num_registers, Value());
    frame.dims.assign(f.dims.size(), std::nullopt);
    std::copy(args.begin(), args.end(), frame.registers.begin());
    absl::StatusOr<Value> result = RunCode(f, frame, depth);
    frame.registers.clear();
    return result;
  }

  absl::StatusOr<Value> RunCode(const Function& f, Frame& frame, int depth) {
    size_t at = 0;
    while (true) {
      const Instruction& instruction = f.code[at];
      if (options_.max_instructions > 0 && left_-- <= 0) {
        return absl::ResourceExhaustedError(
            absl::StrCat("more than ", options_.max_instructions,
                         " instructions were taken"));
      }
      if (instruction.op == Opcode::kReturn) {
        return Take(instruction.args[0], frame, f);
      }
      absl::StatusOr<size_t> next = Step(f, instruction, at, frame, depth);
      if (!next.ok()) return Explain(f, instruction, next.status());
      at = *next;
    }
  }

  // "main: y: expected ...".
  absl::Status Explain(const Function& f, const Instruction& instruction,
                       const absl::Status& status) const {
    std::string where = f.name;
    if (instruction.label >= 0) {
      absl::StrAppend(&where, ": ", executable_.strings[instruction.label]);
    }
    return absl::Status(
        status.code(),
        absl::StrCat(where, ": ", std::string(status.message())));
  }

  // Carries out one instruction; where to go on.
  absl::StatusOr<size_t> Step(const Function& f, const Instruction& in,
                              size_t at, Frame& frame, int depth) {
    if (in.op == Opcode::kJump) return in.target;
    if (in.op == Opcode::kIf) {
      KILN_ASSIGN_OR_RETURN(const Value condition, Take(in.args[0], frame, f));
      KILN_ASSIGN_OR_RETURN(const bool holds, IsTrue(condition));
      return holds ? at + 1 : static_cast<size_t>(in.target);
    }
    if (in.op == Opcode::kKernel) {
      KILN_RETURN_IF_ERROR(CallKernel(f, in, frame));
      return at + 1;
    }
    if (in.op == Opcode::kAllocTensor && in.dst >= 0) {
      if (const NDArray* array = UnusedSmallTensor(in.index)) {
        frame.registers[in.dst] = *array;
        return at + 1;
      }
    }
    KILN_ASSIGN_OR_RETURN(Value value, Compute(f, in, frame, depth));
    if (in.dst >= 0) frame.registers[in.dst] = std::move(value);
    return at + 1;
  }

  absl::StatusOr<Value> Compute(const Function& f, const Instruction& in,
                                Frame& frame, int depth) {
    switch (in.op) {
      case Opcode::kFunction: {
        KILN_ASSIGN_OR_RETURN(const auto args, TakeAll(in, frame, f));
        return Run(in.index, args, depth + 1);
      }
      case Opcode::kPacked: {
        KILN_ASSIGN_OR_RETURN(const auto args, TakeAll(in, frame, f));
        return CallPacked(in, args);
      }
      case Opcode::kClosure: {
        KILN_ASSIGN_OR_RETURN(const auto args, TakeAll(in, frame, f));
        const auto* closure = std::get_if<Closure>(&args[0]);
        if (!closure) {
          return Invalid(
              absl::StrCat("a function is called that is ", Describe(args[0])));
        }
        return RunClosure(**closure, absl::MakeSpan(args).subspan(1),
                          depth + 1);
      }
      case Opcode::kAllocTensor:
        return Allocate(in.index, frame);
      case Opcode::kView:
        return ViewOf(f, in, frame);
      case Opcode::kMatch: {
        KILN_ASSIGN_OR_RETURN(const Value value, Take(in.args[0], frame, f));
        KILN_RETURN_IF_ERROR(Match(executable_, f, executable_.types[in.index],
                                   value, frame.dims));
        return Value();
      }
      default:
        return ComputePlain(f, in, frame);
    }
  }

  // What only moves values about.
  absl::StatusOr<Value> ComputePlain(const Function& f, const Instruction& in,
                                     Frame& frame) {
    KILN_ASSIGN_OR_RETURN(std::vector<Value> args, TakeAll(in, frame, f));
    switch (in.op) {
      case Opcode::kTuple:
        return Value(MakeTuple(std::move(args)));
      case Opcode::kItem:
        return ItemOf(args[0], in.index);
      case Opcode::kShape:
        return ShapeOf(args);
      case Opcode::kShapeOf: {
        const auto* array = std::get_if<NDArray>(&args[0]);
        if (!array || array->is_null()) {
          return Invalid(
              absl::StrCat("expected a tensor, got ", Describe(args[0])));
        }
        return Value(MakeShape({array->shape().begin(), array->shape().end()}));
      }
      case Opcode::kMakeClosure:
        return Value(Closure(std::make_shared<ClosureValue>(
            ClosureValue{in.index, this, std::move(args)})));
      default:
        return std::move(args[0]);
    }
  }

  static absl::StatusOr<Value> ItemOf(const Value& value, int32_t index) {
    const auto* tuple = std::get_if<Tuple>(&value);
    if (!tuple || (*tuple)->fields.size() <= static_cast<size_t>(index)) {
      return Invalid(absl::StrCat("expected a tuple of more than ", index,
                                  ", got ", Describe(value)));
    }
    return (*tuple)->fields[index];
  }

  static absl::StatusOr<Value> ShapeOf(const std::vector<Value>& args) {
    std::vector<int64_t> extents;
    for (const Value& arg : args) {
      const auto* extent = std::get_if<int64_t>(&arg);
      if (!extent) {
        return Invalid(absl::StrCat("an extent has to be an integer, not ",
                                    Describe(arg)));
      }
      extents.push_back(*extent);
    }
    return Value(MakeShape(std::move(extents)));
  }

  static absl::StatusOr<std::vector<int64_t>> ExtentsOf(const Type& type,
                                                        const Frame& frame) {
    std::vector<int64_t> shape;
    shape.reserve(type.dims.size());
    for (const KernelDim& dim : type.dims) {
      const std::optional<int64_t> extent = Evaluate(dim, frame.dims);
      if (!extent) return Invalid("nothing tells the extents of the result");
      shape.push_back(*extent);
    }
    return shape;
  }

  // One of the kept tensors of the type that nobody else holds, or nullptr.
  const NDArray* UnusedSmallTensor(int32_t type_index) const {
    for (const NDArray& array : small_[type_index]) {
      if (array.is_unique()) return &array;
    }
    return nullptr;
  }

  absl::StatusOr<Value> Allocate(int32_t type_index, const Frame& frame) {
    const Type& type = executable_.types[type_index];
    KILN_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ExtentsOf(type, frame));
    KILN_ASSIGN_OR_RETURN(NDArray array,
                          pool_.Empty(std::move(shape), type.dtype));
    const bool is_static =
        std::all_of(type.dims.begin(), type.dims.end(),
                    [](const KernelDim& dim) { return dim.is_constant(); });
    std::vector<NDArray>& small = small_[type_index];
    if (is_static && array.bytes() <= kSmallBytes &&
        small.size() < kSmallTensors) {
      small.push_back(array);
    }
    return Value(std::move(array));
  }

  absl::StatusOr<Value> ViewOf(const Function& f, const Instruction& in,
                               Frame& frame) {
    const Type& type = executable_.types[in.index];
    KILN_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ExtentsOf(type, frame));
    KILN_ASSIGN_OR_RETURN(const Value held, Take(in.args[0], frame, f));
    KILN_ASSIGN_OR_RETURN(const Value offset, Take(in.args[1], frame, f));
    const auto* bytes = std::get_if<NDArray>(&held);
    const auto* begin = std::get_if<int64_t>(&offset);
    if (!bytes || bytes->is_null() || !begin) {
      return Invalid(absl::StrCat("a view needs a tensor and an offset, got ",
                                  Describe(held), " and ", Describe(offset)));
    }
    return View(*bytes, *begin, std::move(shape), type.dtype);
  }

  static absl::StatusOr<Value> View(const NDArray& held, int64_t begin,
                                    std::vector<int64_t> shape, DType dtype) {
    KILN_ASSIGN_OR_RETURN(const int64_t count,
                          CheckedNumElements(shape, dtype));
    const int64_t size = count * dtype.bytes();
    if (begin < 0 || begin > held.bytes() || size > held.bytes() - begin) {
      return Invalid(absl::StrCat("a tensor of ", size, " bytes from byte ",
                                  begin, " on does not fit into ",
                                  held.TypeString(), ", which has ",
                                  held.bytes()));
    }
    KILN_ASSIGN_OR_RETURN(
        NDArray array,
        NDArray::View(held.data_as<uint8_t>() + begin, std::move(shape), dtype,
                      std::make_shared<NDArray>(held)));
    return Value(std::move(array));
  }

  // The value of an operand; a copy unless it is the register's last use.
  absl::StatusOr<Value> Take(const Operand& operand, Frame& frame,
                             const Function& f) {
    switch (operand.kind) {
      case Operand::Kind::kRegister: {
        Value& held = frame.registers[operand.index];
        if (operand.is_last) return std::exchange(held, Value());
        return held;
      }
      case Operand::Kind::kConstant:
        return constants_[operand.index];
      case Operand::Kind::kNumber:
        break;
    }
    const std::optional<int64_t> number =
        Evaluate(f.numbers[operand.index], frame.dims);
    if (!number) return Invalid("nothing tells a number that is needed");
    return Value(*number);
  }

  // As Take, for all. A register may stand several times, last in its last.
  absl::StatusOr<std::vector<Value>> TakeAll(const Instruction& in,
                                             Frame& frame, const Function& f) {
    std::vector<Value> values;
    values.reserve(in.args.size());
    for (const Operand& arg : in.args) {
      KILN_ASSIGN_OR_RETURN(Value value, Take(arg, frame, f));
      values.push_back(std::move(value));
    }
    return values;
  }

  absl::Status CallKernel(const Function& f, const Instruction& in,
                          Frame& frame) {
    if (options_.observe) return CallObserved(f, in, frame);
    return CallUnobserved(f, in, frame);
  }

  absl::Status CallUnobserved(const Function& f, const Instruction& in,
                              Frame& frame) {
    const LoadedKernel& kernel = kernels_[in.index];
    absl::Status status;
    const bool called =
        GatherQuickly(f, in, frame) &&
        kernel.CallQuickly(host_->abi(), quick_args_, &quick_bound_, &status);
    if (!called) return CallSlowly(kernel, f, in, frame);
    DropLast(in, frame);
    return status;
  }

  absl::Status CallObserved(const Function& f, const Instruction& in,
                            Frame& frame) {
    ObservedCall call;
    LookAtKernel(executable_.kernels[in.index], Copies(in, frame, f), &call);
    const double start = MonotonicSeconds();
    const absl::Status status = CallUnobserved(f, in, frame);
    call.seconds = MonotonicSeconds() - start;
    if (!status.ok()) return status;
    Observe(kernels_[in.index].signature().name, in, &call);
    return status;
  }

  // Of operands, which stay where they are; nothing for numbers that nothing
  // tells.
  std::vector<Value> Copies(const Instruction& in, const Frame& frame,
                            const Function& f) const {
    std::vector<Value> values;
    for (const Operand& arg : in.args) {
      if (arg.kind == Operand::Kind::kRegister) {
        values.push_back(frame.registers[arg.index]);
      } else if (arg.kind == Operand::Kind::kConstant) {
        values.push_back(constants_[arg.index]);
      } else {
        const auto number = Evaluate(f.numbers[arg.index], frame.dims);
        values.push_back(number ? Value(*number) : Value());
      }
    }
    return values;
  }

  // Into quick_args_, without copies; false where an operand is neither tensor
  // nor integer.
  bool GatherQuickly(const Function& f, const Instruction& in,
                     const Frame& frame) {
    quick_args_.resize(in.args.size());
    for (size_t i = 0; i < in.args.size(); ++i) {
      const Operand& arg = in.args[i];
      QuickArgument& quick = quick_args_[i];
      if (arg.kind == Operand::Kind::kNumber) {
        const std::optional<int64_t> number =
            Evaluate(f.numbers[arg.index], frame.dims);
        if (!number) return false;
        quick.array = nullptr;
        quick.integer = *number;
        continue;
      }
      const Value& value = arg.kind == Operand::Kind::kRegister
                               ? frame.registers[arg.index]
                               : constants_[arg.index];
      const auto* array = std::get_if<NDArray>(&value);
      const auto* integer = std::get_if<int64_t>(&value);
      if (!array && !integer) return false;
      quick.array = array;
      quick.integer = integer ? *integer : 0;
    }
    return true;
  }

  static void DropLast(const Instruction& in, Frame& frame) {
    for (const Operand& arg : in.args) {
      if (arg.kind == Operand::Kind::kRegister && arg.is_last) {
        frame.registers[arg.index] = Value();
      }
    }
  }

  absl::Status CallSlowly(const LoadedKernel& kernel, const Function& f,
                          const Instruction& in, Frame& frame) {
    std::vector<PackedValue> args;
    for (const Operand& arg : in.args) {
      KILN_ASSIGN_OR_RETURN(Value value, Take(arg, frame, f));
      if (auto* array = std::get_if<NDArray>(&value)) {
        args.emplace_back(std::move(*array));
      } else if (const auto* integer = std::get_if<int64_t>(&value)) {
        args.emplace_back(*integer);
      } else if (const auto* real = std::get_if<double>(&value)) {
        args.emplace_back(*real);
      } else {
        return Invalid(absl::StrCat("a kernel takes tensors and numbers, not ",
                                    Describe(value)));
      }
    }
    return kernel.Call(host_->abi(), args);
  }

  absl::StatusOr<Value> CallPacked(const Instruction& in,
                                   absl::Span<const Value> args) {
    const Packed& packed = *packed_[in.index];
    if (!options_.observe) return packed(args);
    ObservedCall call;
    const double start = MonotonicSeconds();
    KILN_ASSIGN_OR_RETURN(Value value, packed(args));
    call.seconds = MonotonicSeconds() - start;
    LookAtPacked(args, value, &call);
    Observe(executable_.strings[in.index], in, &call);
    return value;
  }

  void Observe(std::string_view callee, const Instruction& in,
               ObservedCall* call) const {
    call->callee = callee;
    if (in.label >= 0) call->label = executable_.strings[in.label];
    options_.observe(*call);
  }

  const std::shared_ptr<const LoadedExecutable> loaded_;
  const Executable& executable_;
  const std::vector<LoadedKernel>& kernels_;
  const std::vector<Value>& constants_;
  FunctionTable functions_;
  const KernelHost* host_;
  const MachineOptions options_;
  std::vector<const Packed*> packed_;  // by the string that is their name
  TensorPool pool_;
  std::vector<std::vector<NDArray>> small_;  // by type
  std::vector<QuickArgument> quick_args_;    // of the call at hand
  QuickArguments quick_bound_;
  std::vector<std::unique_ptr<Frame>> frames_;
  int64_t left_ = 0;  // instructions
};

Machine::Machine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Machine::~Machine() = default;

absl::StatusOr<std::unique_ptr<Machine>> Machine::Create(
    std::shared_ptr<const LoadedExecutable> loaded, FunctionTable functions,
    const KernelHost* host, MachineOptions options) {
  auto impl = std::make_unique<Impl>(std::move(loaded), std::move(functions),
                                     host, std::move(options));
  KILN_RETURN_IF_ERROR(impl->FindPacked());
  return std::unique_ptr<Machine>(new Machine(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Machine>> Machine::Create(
    Executable executable, FunctionTable functions, const KernelHost* host,
    MachineOptions options) {
  KILN_ASSIGN_OR_RETURN(auto loaded,
                        LoadedExecutable::Load(std::move(executable)));
  return Create(std::move(loaded), std::move(functions), host,
                std::move(options));
}

const Executable& Machine::executable() const { return impl_->executable(); }

absl::StatusOr<Value> Machine::Call(std::string_view function,
                                    absl::Span<const Value> args) {
  return impl_->CallByName(function, args);
}

absl::StatusOr<Value> Machine::CallClosure(const Closure& closure,
                                           absl::Span<const Value> args) {
  return impl_->CallOutside(closure, args);
}

}  // namespace kiln::vm
