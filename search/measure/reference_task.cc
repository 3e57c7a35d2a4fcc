// Trust has to start somewhere: outputs come from the function without a
// schedule, compiled with as few passes as its size allows, and the
// interpreter, which shares no code with the compiler, confirms them.
//
//   flop up to     how the reference runs        confirmed by
//   3e6            plain                         all elements
//   3e7            plain                         samples
//   2.5e9          in cache order                samples
//   more           in cache order, optimized     samples; if none: run again,
//                                                not optimized
//
// Every kernel is checked on two inputs. The first is random, compared with a
// tolerance. The second holds whole numbers up to 3, so that sums are exact in
// any order, and outputs have to be equal: no error hides within a tolerance. A
// matmul of float32 over 1024 terms stays within 1024 * 3 * 3, which is less
// than 2^24.
#include "kiln/search/measure/reference_task.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/guard/input_ranges.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/transform/split_preparation.h"
#include "kiln/ir/work/work.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/race.h"
#include "kiln/schedule/primitive/for_kind.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/search/measure/access_check.h"
#include "kiln/search/measure/compare.h"
#include "kiln/search/measure/samples.h"
#include "kiln/search/measure/trusted.h"
#include "kiln/search/measure/whole_numbers.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {
namespace {

// Loop iterations that a check by the interpreter may take: of a small program,
// and of one whose elements cannot be had alone.
constexpr int64_t kMaxInterpretedSteps = 20'000'000;
constexpr int64_t kMaxStepsInstead = 5'000'000;
// A run of the reference is given up after so long: far more than any needs.
constexpr double kDeadlineS = 120;
constexpr double kSecondsPerFlop = 1e-8;

// Contents as the interpreter takes them.
absl::StatusOr<std::vector<Tensor>> TensorsOf(const KernelSignature& signature,
                                              const CallContents& contents) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    const KernelBuffer& buffer = signature.buffers[i];
    KILN_RETURN_IF_ERROR(BufferBytes(buffer, contents.scalars).status());
    std::vector<int64_t> shape;
    for (const KernelDim& dim : buffer.shape) {
      shape.push_back(*Evaluate(dim, contents.scalars));
    }
    Tensor& tensor = tensors.emplace_back(buffer.dtype, std::move(shape));
    std::fill(tensor.bytes.begin(), tensor.bytes.end(), 0xff);
    if (!contents.buffers[i]) continue;
    const NDArray& array = *contents.buffers[i];
    std::copy_n(array.data_as<uint8_t>(), array.bytes(), tensor.bytes.data());
  }
  return tensors;
}

absl::Status WithWayOut(const absl::Status& status,
                        const ReferenceOptions& options) {
  if (options.contents) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(
          status.message(),
          "; this is with random inputs: where the program is meant to "
          "get others, give an --input for each tensor that it reads"));
}

// From the form of the kernel ABI.
Argument ScalarArgument(const KernelScalar& scalar, int64_t value) {
  if (!scalar.dtype.is_float()) return value;
  return std::bit_cast<double>(value);
}

// What the interpreter leaves in the tensors of `f` that it writes, in order;
// nullopt where it would take too long.
absl::StatusOr<std::optional<std::vector<Tensor>>> Interpreted(
    const Function& f, const KernelSignature& signature,
    const CallContents& contents, int64_t max_steps) {
  KILN_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                        TensorsOf(signature, contents));
  KILN_ASSIGN_OR_RETURN(const Interpreter interpreter, Interpreter::Create(f));
  std::vector<Argument> arguments;
  for (const KernelParam& param : signature.params) {
    if (param.kind == KernelParam::Kind::kBuffer) {
      arguments.push_back(&tensors[param.index]);
    } else {
      arguments.push_back(ScalarArgument(signature.scalars[param.index],
                                         contents.scalars[param.index]));
    }
  }
  InterpOptions options;
  options.max_steps = max_steps;
  const absl::Status status = interpreter.Run(arguments, options);
  if (absl::IsResourceExhausted(status)) return std::nullopt;
  KILN_RETURN_IF_ERROR(status);
  std::vector<Tensor> written;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (signature.buffers[i].written) written.push_back(std::move(tensors[i]));
  }
  return written;
}

// The compiled outputs have to agree with the interpreted ones.
absl::Status CompareWhole(const Function& f, const KernelSignature& signature,
                          const std::vector<Tensor>& interpreted,
                          const std::vector<std::string>& compiled,
                          const std::vector<Tolerance>& tolerances) {
  size_t next = 0;
  for (const KernelBuffer& buffer : signature.buffers) {
    if (!buffer.written) continue;
    const Tensor& tensor = interpreted[next];
    std::optional<OutputMismatch> mismatch =
        CompareElements(tensor.dtype, compiled[next].data(),
                        tensor.bytes.data(), tensor.size(), tolerances[next]);
    ++next;
    if (!mismatch) continue;
    return absl::InternalError(absl::StrCat(
        "function ", f.name,
        " compiled without a schedule disagrees with its interpretation: ",
        ToString(*mismatch, buffer.name)));
  }
  return absl::OkStatus();
}

// Loops of `block` that drive an iterator of the type directly, outermost
// first.
std::vector<LoopId> LoopsOfType(const Path& block, IterType type) {
  std::vector<LoopId> loops;
  for (const ForNode* loop : LoopsAbove(block)) {
    const BlockRealizeNode& realize = *block.realize();
    for (size_t i = 0; i < realize.values.size(); ++i) {
      if (realize.values[i] == loop->var &&
          realize.block->iters[i].type == type) {
        loops.push_back(loop->id);
      }
    }
  }
  return loops;
}

Function InCacheOrder(Function f, BlockId block) {
  std::optional<Path> path = FindBlock(f, block);
  std::vector<LoopId> spatial = LoopsOfType(*path, IterType::kSpatial);
  std::vector<LoopId> order = LoopsOfType(*path, IterType::kReduce);
  if (spatial.size() < 2 || order.empty()) return f;
  order.push_back(spatial.back());
  if (absl::StatusOr<Function> g = Reorder(f, order); g.ok()) f = *std::move(g);
  for (const ForNode* loop : LoopsAbove(*path)) {
    if (loop->id != spatial.back() && !IsOne(loop->extent)) {
      absl::StatusOr<Function> g = Parallel(f, loop->id);
      return g.ok() ? *std::move(g) : f;
    }
  }
  return f;
}

// Trusted outputs of one call, and how they came to be trusted.
struct TrustedRun {
  CallContents contents;
  std::vector<std::string> outputs;
  std::vector<Tolerance> tolerances;
  bool interpreted = false;  // all of it
  Samples samples;           // otherwise
};

// What every run of a reference needs.
struct Reference {
  const Function& f;
  const Function known;  // at the size that is timed
  double flop;
  const ReferenceOptions& options;
  Runner& runner;
  TrustedOptions trusted;
};

// Calls the kernel on the contents and compares its outputs with those of the
// interpreter, which goes first where all is interpreted: it names what a
// program does outside of its buffers. `exact`, one for each buffer: whether to
// compare without tolerance; empty for none.
absl::StatusOr<TrustedRun> RunChecked(const Reference& reference,
                                      const BuildResult& build,
                                      CallContents contents,
                                      const std::vector<bool>& exact) {
  const KernelSignature& signature = build.signature;
  const bool is_small =
      reference.flop <= reference.options.max_interpreted_flop;
  std::optional<std::vector<Tensor>> whole;
  if (is_small) {
    KILN_ASSIGN_OR_RETURN(whole, Interpreted(reference.known, signature,
                                             contents, kMaxInterpretedSteps));
  }
  TrustedRun run;
  run.contents = std::move(contents);
  KILN_ASSIGN_OR_RETURN(
      run.outputs,
      RunTrusted(build, run.contents, reference.runner, reference.trusted));
  run.tolerances =
      TolerancesOf(signature, run.outputs, reference.trusted.reduction_length);
  size_t next = 0;
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    if (!signature.buffers[i].written) continue;
    if (!exact.empty() && exact[i]) run.tolerances[next] = {};
    ++next;
  }
  // Kernels of a strict function agree to the bit; with the interpreter too,
  // but where both round a function such as exp in their own ways.
  const std::vector<Tolerance> none(run.tolerances.size());
  const std::vector<Tolerance> interpreted =
      reference.trusted.exact && !CallsRoundedMath(reference.known)
          ? none
          : run.tolerances;
  if (reference.trusted.exact) run.tolerances = none;
  if (!whole) {
    SampleOptions sample;
    sample.seed = reference.options.seed;
    KILN_ASSIGN_OR_RETURN(run.samples,
                          CheckSamples(reference.known, signature, run.contents,
                                       run.outputs, interpreted, sample));
    if (run.samples.count == 0 && !is_small) {
      KILN_ASSIGN_OR_RETURN(whole, Interpreted(reference.known, signature,
                                               run.contents, kMaxStepsInstead));
    }
  }
  run.interpreted = whole.has_value();
  if (whole) {
    KILN_RETURN_IF_ERROR(CompareWhole(reference.known, signature, *whole,
                                      run.outputs, interpreted));
  }
  return run;
}

bool IsConfirmed(const TrustedRun& run) {
  return run.interpreted || run.samples.count > 0;
}

// Whether what the program reads decides where it reads or writes.
bool HasDataInIndices(const Function& f) {
  bool found = false;
  Visit(f.body, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      for (const Expr& index : store->indices) found |= index->has_loads;
    }
    return !found;
  });
  VisitExprs(f.body, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (!load) return !found;
    for (const Expr& index : load->indices) found |= index->has_loads;
    return !found;
  });
  return found;
}

struct WholeNumbers {
  CallContents contents;
  std::vector<bool> exact;  // for each buffer of the signature
  int64_t magnitude = 1;    // 0: the inputs of the first run once more
};

// Which buffers may hold any small numbers.
absl::StatusOr<std::vector<bool>> FreeBuffers(const Function& f,
                                              const CallContents& contents) {
  KILN_ASSIGN_OR_RETURN(const auto ranges, InputRanges(f));
  std::vector<bool> is_free;
  for (size_t p = 0; p < f.params.size(); ++p) {
    if (!f.params[p].buffer) continue;
    is_free.push_back(contents.buffers[is_free.size()] && !ranges[p]);
  }
  return is_free;
}

// The same arguments with small whole numbers in the place of those that are
// drawn anew; what becomes an index stays.
absl::StatusOr<WholeNumbers> DrawWholeNumbers(const Function& f,
                                              const CallContents& like,
                                              const std::vector<bool>& is_drawn,
                                              uint64_t seed) {
  WholeNumbers numbers = {like, {}};
  std::vector<double> magnitudes;
  for (const std::optional<NDArray>& buffer : like.buffers) {
    magnitudes.push_back(0);
    if (!buffer || is_drawn[magnitudes.size() - 1]) continue;
    // Sums of kept floats depend on their order.
    magnitudes.back() = buffer->dtype().is_float()
                            ? std::numeric_limits<double>::infinity()
                            : LargestMagnitude(buffer->dtype(), buffer->data(),
                                               buffer->num_elements());
  }
  numbers.magnitude = LargestExactMagnitude(f, is_drawn, magnitudes);
  for (size_t i = 0; i < is_drawn.size(); ++i) {
    if (!is_drawn[i]) continue;
    KILN_ASSIGN_OR_RETURN(numbers.contents.buffers[i],
                          like.buffers[i]->Clone());
    FillWholeNumbers(*numbers.contents.buffers[i], numbers.magnitude, seed + i);
    magnitudes[i] = static_cast<double>(numbers.magnitude);
  }
  numbers.exact = ExactBuffers(f, magnitudes);
  return numbers;
}

// Where such numbers lead a program out of its buffers, which takes what it
// computes for an index, the arguments stay as they are.
absl::StatusOr<WholeNumbers> SafeWholeNumbers(const Reference& reference,
                                              const CallContents& contents,
                                              Builder& builder) {
  const Function& f = reference.known;
  const uint64_t seed = reference.options.seed;
  KILN_ASSIGN_OR_RETURN(const std::vector<bool> is_free,
                        FreeBuffers(f, contents));
  KILN_ASSIGN_OR_RETURN(WholeNumbers numbers,
                        DrawWholeNumbers(f, contents, is_free, seed));
  if (!HasDataInIndices(f)) return numbers;
  const absl::Status inside =
      CheckAccesses(reference.f, numbers.contents, builder, reference.runner,
                    reference.trusted.deadline_s);
  if (inside.ok()) return numbers;
  return DrawWholeNumbers(f, contents, std::vector<bool>(is_free.size()), seed);
}

// Such as "40 elements are those of the interpreter, and 40 elements on whole
// numbers up to 3, exactly in C".
std::string GroundsOf(const KernelSignature& signature, const TrustedRun& run,
                      const TrustedRun& second, const WholeNumbers& numbers) {
  auto seen = [](const TrustedRun& one) {
    if (one.interpreted) return std::string("all elements");
    return absl::StrCat(one.samples.count, " elements");
  };
  std::string text =
      IsConfirmed(run) && IsConfirmed(second)
          ? absl::StrCat(seen(run), " are those of the interpreter, and ",
                         seen(second))
          : absl::StrCat(
                "none of their elements was "
                "interpreted, since ",
                run.samples.none, "; compared also");
  std::vector<std::string> exact, close;
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    if (!signature.buffers[i].written) continue;
    (numbers.exact[i] ? exact : close).push_back(signature.buffers[i].name);
  }
  absl::StrAppend(
      &text, numbers.magnitude > 0
                 ? absl::StrCat(" on whole numbers up to ", numbers.magnitude)
                 : " on the same inputs, since others come apart");
  if (!exact.empty()) {
    absl::StrAppend(&text, ", exactly in ", absl::StrJoin(exact, ", "));
  }
  if (!close.empty()) {
    absl::StrAppend(&text, ", with a tolerance in ", absl::StrJoin(close, ", "),
                    ", whose values depend on how they are computed");
  }
  return text;
}

bool IsAnyExact(const KernelSignature& signature, const WholeNumbers& numbers) {
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    if (signature.buffers[i].written && numbers.exact[i]) return true;
  }
  return false;
}

// Of a program that its user gave inputs, such as a factorization without
// pivoting that is meant for some matrices only, others may make rounding
// errors large: where they would not even have shown exact results and the
// results come apart, the second run is on the user's inputs as well.
absl::StatusOr<TrustedRun> RunOnWholeNumbers(const Reference& reference,
                                             const BuildResult& build,
                                             const TrustedRun& first,
                                             WholeNumbers* numbers) {
  absl::StatusOr<TrustedRun> second =
      RunChecked(reference, build, numbers->contents, numbers->exact);
  const bool may_be_unstable = absl::IsInternal(second.status()) &&
                               reference.options.contents &&
                               !IsAnyExact(build.signature, *numbers);
  if (!may_be_unstable) return second;
  numbers->contents = first.contents;
  numbers->magnitude = 0;
  return first;
}

// The task for one build; null where nothing confirms its outputs.
absl::StatusOr<std::shared_ptr<const MeasureTask>> TaskOf(
    const Reference& reference, Builder& builder, const BuildResult& build,
    const CallContents& contents) {
  KILN_ASSIGN_OR_RETURN(WholeNumbers numbers,
                        SafeWholeNumbers(reference, contents, builder));
  KILN_ASSIGN_OR_RETURN(const TrustedRun run,
                        RunChecked(reference, build, contents, {}));
  KILN_ASSIGN_OR_RETURN(const TrustedRun second,
                        RunOnWholeNumbers(reference, build, run, &numbers));
  if (reference.flop > reference.options.max_unoptimized_flop &&
      !(IsConfirmed(run) && IsConfirmed(second))) {
    return std::shared_ptr<const MeasureTask>();
  }
  TaskExtras extras;
  extras.grounds = GroundsOf(build.signature, run, second, numbers);
  KILN_ASSIGN_OR_RETURN(extras.second,
                        MakeComparedTask(build.signature, second.contents,
                                         second.outputs, second.tolerances));
  return MakeComparedTask(build.signature, run.contents, run.outputs,
                          run.tolerances, std::move(extras));
}

}  // namespace

int64_t ReductionLength(const Function& f) {
  int64_t longest = 1;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return true;
    int64_t length = 1;
    for (const IterVar& iter : realize->block->iters) {
      const int64_t* extent = AsInt(iter.domain.extent);
      if (iter.type == IterType::kReduce && extent) length *= *extent;
    }
    longest = std::max(longest, length);
    return true;
  });
  return longest;
}

Function InCacheOrder(const Function& f) {
  std::vector<BlockId> blocks;
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    blocks.push_back(realize.block->id);
  });
  Function result = f;
  for (BlockId block : blocks) result = InCacheOrder(std::move(result), block);
  return result;
}

absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeReferenceTask(
    const Function& f, Builder& builder, Runner& runner,
    const ReferenceOptions& options) {
  KILN_RETURN_IF_ERROR(CheckConcurrentLoops(f));
  const Function known = AtTimedSize(f);
  const double flop = CountWork(known).value_or(Work()).flop.value;
  const Function plain =
      WithoutPreparation(flop > options.max_plain_flop ? InCacheOrder(f) : f);
  const bool optimize = flop > options.max_unoptimized_flop;
  KILN_ASSIGN_OR_RETURN(BuildResult build, optimize
                                               ? builder.Build(plain)
                                               : builder.BuildPlain(plain));
  CallContents contents;
  if (options.contents) {
    contents = WithoutOutputs(f, *options.contents);
  } else {
    KILN_ASSIGN_OR_RETURN(contents,
                          DrawContents(f, build.signature, options.seed));
  }
  Reference reference = {f, known, flop, options, runner, {}};
  reference.trusted.reduction_length = ReductionLength(known);
  reference.trusted.exact = IsStrict(f);
  reference.trusted.num_threads = ThreadPool::NumAvailableCpus();
  reference.trusted.deadline_s = kDeadlineS + flop * kSecondsPerFlop;
  const absl::Status inside =
      CheckAccesses(f, contents, builder, runner, reference.trusted.deadline_s);
  if (absl::IsOutOfRange(inside)) return WithWayOut(inside, options);
  KILN_RETURN_IF_ERROR(inside);
  auto task = TaskOf(reference, builder, build, contents);
  if (absl::IsInternal(task.status())) {
    return WithWayOut(task.status(), options);
  }
  if (!task.ok() || *task || !optimize) return task;
  // Nothing but the compiler vouches for its outputs: as little of it as can
  // be.
  KILN_ASSIGN_OR_RETURN(build, builder.BuildPlain(plain));
  ReferenceOptions slow = options;
  slow.max_unoptimized_flop = std::numeric_limits<double>::infinity();
  const Reference again = {f, known, flop, slow, runner, reference.trusted};
  return TaskOf(again, builder, build, contents);
}

}  // namespace kiln
