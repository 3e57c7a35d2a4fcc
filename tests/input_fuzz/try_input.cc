// The inputs are made once; what is done to one of them is a function of the
// seed alone, so that it can be tried again:
//
//   seed 4711: the text of module 17, its third line twice, "3" now "-1"
#include "kiln/tests/input_fuzz/try_input.h"

#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/status/statusor.h"
#include "google/protobuf/stubs/logging.h"
#include "kiln/base/blob.h"
#include "kiln/base/check.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/tests/graph_fuzz/check.h"
#include "kiln/tests/graph_fuzz/program.h"
#include "kiln/tests/input_fuzz/mutate.h"
#include "kiln/tests/input_fuzz/shared_file.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/executable/codec.h"
#include "kiln/vm/executable/shared_model.h"
#include "kiln/vm/executable/verify.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/machine.h"

namespace kiln {
namespace {

struct Program {
  vm_proto::Executable message;
  std::vector<Blob> blobs;
  std::vector<vm::Value> args;
  SharedFile shared;
  vm_proto::Executable shared_message;
};

// Where the message of a model begins in its section.
size_t MessageBegin(const SharedFile& file) {
  return sizeof(vm::SharedModelHeader) + file.places.size() * sizeof(int64_t);
}

std::string MessageOf(const SharedFile& file) {
  return ModelSection(file).substr(MessageBegin(file));
}

absl::StatusOr<Program> Compiled(const Module& module, uint64_t seed) {
  Program program;
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  KILN_ASSIGN_OR_RETURN(program.args, RandomGraphArguments(inferred, seed));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module));
  KILN_ASSIGN_OR_RETURN(const vm::Executable executable,
                        CompileModel(prepared, target, KeepSchedules()));
  vm::ToMessage(executable, &program.message, &program.blobs);
  KILN_ASSIGN_OR_RETURN(program.shared, WriteAndLoad(executable));
  KILN_CHECK(program.shared_message.ParseFromString(MessageOf(program.shared)));
  return program;
}

// What a tool does with a module ahead of code generation.
absl::Status Process(const Module& module) {
  for (const Function& f : module.functions) {
    KILN_RETURN_IF_ERROR(VerifyFunction(f));
  }
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module));
  PrintModule(prepared);
  return absl::OkStatus();
}

bool HasSameKernels(const vm_proto::Executable& a,
                    const vm_proto::Executable& b) {
  if (a.kernels_size() != b.kernels_size()) return false;
  for (int i = 0; i < a.kernels_size(); ++i) {
    if (a.kernels(i).SerializeAsString() != b.kernels(i).SerializeAsString()) {
      return false;
    }
  }
  return true;
}

template <typename Model>
absl::Status Run(Model model, const std::vector<vm::Value>& args) {
  ThreadPool::Options threads;
  threads.num_threads = 1;
  ThreadPool pool(threads);
  const KernelHost host(&pool);
  vm::MachineOptions options;
  options.max_instructions = 10000;
  KILN_ASSIGN_OR_RETURN(auto loaded,
                        vm::LoadedExecutable::Load(std::move(model)));
  KILN_ASSIGN_OR_RETURN(
      auto machine, vm::Machine::Create(std::move(loaded), {}, &host, options));
  return machine->Call("main", args).status();
}

}  // namespace

struct InputFuzzer::Inputs {
  std::vector<std::string> texts;
  std::vector<proto::Module> messages;
  std::vector<Program> programs;
  // Its errors are statuses here, too.
  google::protobuf::LogSilencer silencer;

  void Add(const Module& module) {
    texts.push_back(PrintModule(module));
    messages.push_back(ModuleToProto(module));
  }
};

InputFuzzer::InputFuzzer(int count) : inputs_(std::make_unique<Inputs>()) {
  for (int i = 1; i <= count; ++i) {
    const std::string text = RandomGraphProgram(i);
    const absl::StatusOr<Module> module = ParseModule("random.py", text);
    KILN_CHECK(module.ok()) << module.status();
    inputs_->Add(*module);
    if (absl::StatusOr<Module> prepared = PrepareModel(*module);
        prepared.ok()) {
      inputs_->Add(*prepared);
    }
    Module formulas;
    formulas.functions.push_back(RandomProgram(i));
    inputs_->Add(formulas);
    absl::StatusOr<Program> program = Compiled(*module, i);
    if (program.ok()) inputs_->programs.push_back(*std::move(program));
  }
}

InputFuzzer::~InputFuzzer() = default;

bool InputFuzzer::TryText(uint64_t seed) const {
  Random random(seed, 1);
  const std::string& text = inputs_->texts[random.Below(inputs_->texts.size())];
  const absl::StatusOr<Module> module =
      ParseModule("damaged.py", MutateText(text, random));
  return module.ok() && Process(*module).ok();
}

bool InputFuzzer::TryMessage(uint64_t seed) const {
  Random random(seed, 2);
  proto::Module message =
      inputs_->messages[random.Below(inputs_->messages.size())];
  std::string bytes;
  if (random.Below(4) == 0) {
    bytes = MutateBytes(message.SerializeAsString(), random);
  } else {
    MutateMessage(&message, random);
    bytes = message.SerializeAsString();
  }
  const absl::StatusOr<Module> module = ParseModuleBytes(bytes);
  return module.ok() && Process(*module).ok();
}

bool InputFuzzer::TryExecutable(uint64_t seed) const {
  Random random(seed, 3);
  const Program& program =
      inputs_->programs[random.Below(inputs_->programs.size())];
  vm_proto::Executable message = program.message;
  MutateMessage(&message, random);
  absl::StatusOr<vm::Executable> executable =
      vm::FromMessage(message, [&](uint32_t index) -> absl::StatusOr<Blob> {
        if (index < program.blobs.size()) return program.blobs[index];
        return absl::InvalidArgumentError("there is no such blob");
      });
  if (!executable.ok() || !vm::Verify(*executable).ok()) return false;
  // What a signature says of native code is taken on trust.
  if (!HasSameKernels(message, program.message)) return true;
  return Run(*std::move(executable), program.args).ok();
}

bool InputFuzzer::TryModel(uint64_t seed) const {
  Random random(seed, 4);
  const Program& program =
      inputs_->programs[random.Below(inputs_->programs.size())];
  const SharedFile& file = program.shared;
  std::string bytes;
  if (random.Below(2) == 0) {
    bytes = MutateBytes(file.bytes, random);
  } else {
    // Damage that no digest tells, of the header or of the message.
    vm_proto::Executable message = program.shared_message;
    std::string section = ModelSection(file).substr(0, MessageBegin(file));
    if (random.Below(4) == 0) {
      section[random.Below(sizeof(vm::SharedModelHeader))] ^=
          static_cast<char>(1 << random.Below(8));
    } else {
      MutateMessage(&message, random);
    }
    const std::string body = message.SerializeAsString();
    const uint64_t size = body.size();
    std::memcpy(section.data() + offsetof(vm::SharedModelHeader, message_bytes),
                &size, sizeof(size));
    bytes = WithModelSection(file, section + body);
  }
  absl::StatusOr<vm::SharedModel> model = ReadDamaged(file, bytes);
  if (!model.ok()) return false;
  // As above.
  vm_proto::Executable read;
  std::vector<Blob> blobs;
  vm::ToMessage(model->executable, &read, &blobs);
  if (!HasSameKernels(read, program.shared_message)) return true;
  return Run(*std::move(model), program.args).ok();
}

}  // namespace kiln
