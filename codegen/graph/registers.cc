// Jumps lead forward, so what happens between the first write of a register and
// its last read, in the order of the code, is all that its value has to
// outlive, whichever branches are taken.
#include "kiln/codegen/graph/registers.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace kiln {
namespace {

constexpr int64_t kNever = -1;

bool IsRegister(const vm::Operand& operand) {
  return operand.kind == vm::Operand::Kind::kRegister;
}

// The instruction that reads each register last; kNever.
std::vector<int64_t> LastReads(const vm::Function& f) {
  std::vector<int64_t> last(f.num_registers, kNever);
  for (size_t at = 0; at < f.code.size(); ++at) {
    for (const vm::Operand& arg : f.code[at].args) {
      if (IsRegister(arg)) last[arg.index] = static_cast<int64_t>(at);
    }
  }
  return last;
}

class Assigner {
 public:
  explicit Assigner(vm::Function* f)
      : f_(*f), last_(LastReads(*f)), renamed_(f->num_registers, kNever) {}

  void Run() {
    for (size_t i = 0; i < f_.params.size(); ++i) renamed_[i] = count_++;
    for (size_t at = 0; at < f_.code.size(); ++at) RenameOne(at);
    f_.num_registers = count_;
  }

 private:
  void RenameOne(size_t at) {
    vm::Instruction& instruction = f_.code[at];
    auto& args = instruction.args;
    for (size_t i = args.size(); i-- > 0;) {
      if (!IsRegister(args[i])) continue;
      const int32_t old = args[i].index;
      args[i].index = static_cast<int32_t>(renamed_[old]);
      if (last_[old] != static_cast<int64_t>(at)) continue;
      args[i].is_last = true;
      last_[old] = kNever;  // the operands before it are no last uses
      free_.push(args[i].index);
    }
    int32_t& dst = instruction.dst;
    if (dst < 0) return;
    if (renamed_[dst] == kNever && last_[dst] == kNever) {
      dst = vm::Instruction::kNone;
      return;
    }
    if (renamed_[dst] == kNever) renamed_[dst] = Take();
    dst = static_cast<int32_t>(renamed_[dst]);
  }

  int32_t Take() {
    if (free_.empty()) return count_++;
    const int32_t lowest = free_.top();
    free_.pop();
    return lowest;
  }

  vm::Function& f_;
  std::vector<int64_t> last_;
  std::vector<int64_t> renamed_;
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<int32_t>>
      free_;
  int32_t count_ = 0;
};

}  // namespace

void AssignRegisters(vm::Function* f) { Assigner(f).Run(); }

}  // namespace kiln
