// What the handles of kiln.h are.
#ifndef KILN_VM_CAPI_HANDLES_H_
#define KILN_VM_CAPI_HANDLES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/base/thread_pool.h"
#include "kiln/vm/capi/kiln.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/machine.h"

namespace kiln::capi {

struct ParameterInfo {
  std::string name;
  KilnParameter parameter = {};  // but for what it points to
  bool has_extents = false;
  std::vector<int64_t> extents;
};

struct FunctionInfo {
  std::string name;
  std::string signature;
  std::vector<ParameterInfo> parameters;
};

}  // namespace kiln::capi

struct KilnModel {
  std::shared_ptr<const kiln::vm::LoadedExecutable> loaded;
  std::vector<kiln::capi::FunctionInfo> functions;  // those not private
};

struct KilnMachine {
  explicit KilnMachine(const kiln::ThreadPool::Options& threads)
      : pool(threads), host(&pool) {}

  kiln::ThreadPool pool;
  kiln::KernelHost host;
  std::unique_ptr<kiln::vm::Machine> machine;
  std::atomic<bool> is_running{false};
};

#endif  // KILN_VM_CAPI_HANDLES_H_
