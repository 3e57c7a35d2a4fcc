// The table of instructions: what a trace can hold.
//
// A row names the parameters in order, with their kinds and defaults, and the
// function that carries an instruction out. Reader, printer, serialization
// and the checks of arguments derive from the table; a new primitive is one
// row in the table of its family.
#ifndef KILN_SCHEDULE_TRACE_INSTRUCTION_H_
#define KILN_SCHEDULE_TRACE_INSTRUCTION_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/random.h"
#include "kiln/schedule/trace/arg.h"
#include "kiln/schedule/trace/state.h"

namespace kiln {

enum class ParamKind : uint8_t {
  kBlock,
  kLoop,
  kBlockOrLoop,
  kLoops,    // all positional arguments together
  kBlocks,   // a list of blocks
  kInt,      // an integer, which may be sampled
  kFactors,  // a list of integers or None
  kInts,     // a list of integers
  kTuples,   // a list of lists of integers, as long as each other
  kFloats,   // a list of numbers
  kBool,
  kString,
  kBufferIndex,  // an integer, or the name of a buffer
  kBufferRef,    // ("read", 0), ("write", 1) or the name of a buffer
  kIndexMap,     // lambda i, j: (...)
  kRanges,       // lambda i, j: [(begin, end), ...]
  kPadValue,     // None, a number, or a lambda that gives one
  kAttr          // anything an annotation may hold
};

struct ParamInfo {
  std::string_view name;
  ParamKind kind;
  std::optional<Arg> default_value = std::nullopt;
  bool positional = false;    // printed without its name
  bool hide_default = false;  // not printed when it has its default
};

// What was chosen by an instruction that samples: factors, or one number.
// Empty: nothing yet.
using Decision = std::vector<int64_t>;

enum class Outputs : uint8_t { kNone, kOne, kList };

class ApplyContext;

struct InstructionKind {
  std::string_view name;
  std::vector<std::string_view> aliases;
  std::vector<ParamInfo> params;
  Outputs outputs;
  RvKind output_kind;
  bool is_pure;  // without it nothing changes but for its outputs
  bool samples;  // has a decision
  absl::Status (*apply)(ApplyContext&);
};

// The kind called `name` in scripts, or by an alias; nullptr when there is
// none.
const InstructionKind* FindInstruction(std::string_view name);
// All rows.
const std::vector<InstructionKind>& InstructionTable();

struct Instruction {
  const InstructionKind* kind = nullptr;
  std::vector<Arg> args;  // one for each parameter
  std::vector<Rv> outputs;
  Decision decision;
  bool fixed = false;  // the decision was given, not sampled
};

// OK when the arguments fit the parameters of the kind. Integers stand for
// numbers where those are wanted.
absl::Status CheckArgs(const InstructionKind& kind,
                       const std::vector<Arg>& args);

// What the function of a row works with.
class ApplyContext {
 public:
  ApplyContext(const Instruction& instruction, State* state, Decision decision,
               uint64_t seed, uint64_t stream);

  // The arguments, by position. Their kinds were checked before.
  LoopId loop(int i);
  BlockId block(int i);
  std::vector<LoopId> loops(int i);
  std::vector<BlockId> blocks(int i);
  absl::StatusOr<int64_t> integer(int i);
  absl::StatusOr<std::vector<std::optional<int64_t>>> factors(int i);
  absl::StatusOr<std::vector<int64_t>> integers(int i);
  std::vector<double> floats(int i);
  bool boolean(int i) const { return *arg(i).boolean(); }
  const std::string& string(int i) const { return *arg(i).string(); }
  absl::StatusOr<Attr> attr(int i);
  // An index map with the values of the sampled integers that it names.
  IndexMap index_map(int i);
  bool is_loop(int i) const;
  const Arg& arg(int i) const { return instruction_.args[i]; }

  const InstructionKind& kind() const { return *instruction_.kind; }

  // The function that the blocks and loops so far belong to.
  const Function& function() const { return *state_->functions[function_]; }
  // Chooses the function by name.
  absl::Status UseFunction(const std::string& name);
  // Fails when the arguments come from several functions.
  absl::Status status() const;
  // In a strict function the order of sums has to stay (order_status).
  void SetFunction(Function f);
  const absl::Status& order_status() const { return order_status_; }

  void Output(int64_t value) { outputs_.push_back({value, Target()}); }
  void Output(const std::vector<int64_t>& values) {
    outputs_.reserve(outputs_.size() + values.size());
    for (int64_t value : values) Output(value);
  }

  // The decision to follow, or to be filled when it is empty.
  Decision& decision() { return decision_; }
  Random& random() { return random_; }
  const std::vector<RvValue>& outputs() const { return outputs_; }

 private:
  int Target() const { return function_ < 0 ? 0 : function_; }
  int64_t Use(const Rv& rv);
  absl::StatusOr<int64_t> Evaluate(const Arg& arg);

  const Instruction& instruction_;
  State* state_;
  Decision decision_;
  Random random_;
  int function_ = -1;
  bool mixed_ = false;
  absl::Status order_status_;
  std::vector<RvValue> outputs_;
};

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_INSTRUCTION_H_
