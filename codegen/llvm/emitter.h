// Turns a lowered function into LLVM IR. Internal to codegen/llvm.
//
// A kernel becomes two functions: the entry point of the kernel ABI, which only
// unpacks its arguments, and a body whose pointers are parameters, since LLVM
// believes `noalias` of parameters alone. (One where it only launches loops.) A
// parallel loop becomes such a pair too: the part that the thread pool calls
// unpacks the environment.
#ifndef KILN_CODEGEN_LLVM_EMITTER_H_
#define KILN_CODEGEN_LLVM_EMITTER_H_

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kiln/codegen/lower/vector/near_lanes.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/expr/dot_product.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace kiln::codegen_internal {

struct TileProduct;  // tile_product.h

class Emitter {
 public:
  Emitter(llvm::Module* module, const Target& target);

  // Emits `f` as an external function `symbol` of the kernel ABI.
  absl::Status EmitKernel(const Function& f, const std::string& symbol);

  // --- Expressions (emit_expr.cc).
  llvm::Value* Emit(const Expr& e);

  // --- Math (emit_math.cc).
  llvm::Value* EmitMath(const CallNode& call);

 private:
  // What a body function sees: how to reach variables and buffers.
  struct Frame {
    llvm::Function* function = nullptr;
    llvm::Value* host = nullptr;
    std::unordered_map<const VarNode*, llvm::Value*> vars;
    std::unordered_map<const BufferNode*, llvm::Value*> buffers;
    std::vector<llvm::Value*> workspaces;  // to be freed, oldest first
    bool in_parallel = false;
    bool has_tiles = false;  // registers for tiles are ready
  };
  // A free variable or buffer of a parallel body.
  struct Capture {
    const VarNode* var = nullptr;
    const BufferNode* buffer = nullptr;
    llvm::Value* value = nullptr;
  };

  // Functions (emit_function.cc).
  llvm::Function* MakeFunction(const std::string& name, llvm::Type* result,
                               const std::vector<llvm::Type*>& params,
                               bool external);
  // Of the body's arguments after the host, those that are buffers: as a call
  // proves of them (vm/library/signature.h), nothing else reaches what is
  // written through one.
  void MarkPointers(llvm::Function* body, const std::vector<Capture>& params);
  // The body's arguments after the host, from what the caller passes.
  std::vector<llvm::Value*> LoadParams(llvm::Function* entry,
                                       const std::vector<Capture>& params);
  static std::vector<Capture> KernelParams(const Function& f);
  llvm::Function* MakeKernelBody(const std::vector<Capture>& params);
  // Goes on in `function`, where `values` are those of `params`.
  void Enter(llvm::Function* function, const std::vector<Capture>& params,
             absl::Span<llvm::Value* const> values);
  // Goes on in `body`, whose parameters after the host are `params`.
  void EnterBody(llvm::Function* body, const std::vector<Capture>& params);
  std::vector<Capture> FindCaptures(const ForNode& loop) const;
  void EmitParallel(const ForNode& loop);
  llvm::Function* EmitParallelBody(const ForNode& loop,
                                   const std::vector<Capture>& captures);
  llvm::Function* EmitParallelEntry(llvm::Function* body,
                                    const std::vector<Capture>& captures,
                                    llvm::StructType* env_type);
  void EmitVersion(const std::string& symbol);
  void EmitReturn(llvm::Value* status);
  void ReturnIfFailed(llvm::Value* status);
  // Loads field `index` of the KilnHost record.
  llvm::Value* HostField(int index);

  // Statements (emit_stmt.cc).
  void Emit(const Stmt& s);
  void EmitSeq(const SeqNode& seq);
  void EmitFor(const ForNode& loop);
  void EmitLoop(const ForNode& loop, llvm::Value* begin, llvm::Value* end);
  void EmitIf(const IfNode& node);
  void EmitAllocate(const AllocateNode& node);
  llvm::Value* EmitWorkspace(const Buffer& buffer);
  llvm::Value* EmitStackSlot(const Buffer& buffer, int64_t elements);

  // Memory (emit_memory.cc).
  void EmitStore(const StoreNode& store);
  llvm::Value* EmitLoad(const LoadNode& load);
  // if_then_else of lanes, the first value of which loads lanes near to each
  // other.
  llvm::Value* EmitMaskedLoad(const CallNode& choice);
  // Those lanes; where there is a `mask`, what others give is not known.
  llvm::Value* EmitNearLanes(const LoadNode& load,
                             const lower::LaneOffsets& lanes,
                             llvm::Value* mask = nullptr);
  llvm::Value* MaskOf(const lower::LaneWindow& window,
                      const std::vector<int64_t>& offsets, llvm::Value* mask);
  llvm::Value* LoadWindow(const LoadNode& load, llvm::Value* address,
                          const lower::LaneWindow& window, llvm::Value* mask);
  llvm::Value* WithMoreLanes(llvm::Value* value, int lanes, int count);
  // Numbers of 8 or 16 bits of which the first few come again and again, as one
  // number, zero where a `mask` leaves them out; null for others.
  llvm::Value* EmitPeriodicLanes(const LoadNode& load,
                                 const lower::LaneOffsets& lanes,
                                 llvm::Value* mask);
  // Lanes at any distances.
  llvm::Value* EmitGather(const LoadNode& load);
  llvm::Value* Address(const Buffer& buffer, const Expr& index);
  llvm::Value* AddressOf(const Buffer& buffer, llvm::Value* index);
  llvm::Value* LoadElement(const Buffer& buffer, llvm::Value* address,
                           int lanes);
  void StoreElement(const Buffer& buffer, llvm::Value* address,
                    llvm::Value* value);

  // Expressions (emit_expr.cc).
  llvm::Value* EmitBinary(const BinaryNode& node);
  llvm::Value* EmitFixedLanes(const Expr& e);
  llvm::Value* EmitCompare(ExprKind kind, DType dtype, llvm::Value* a,
                           llvm::Value* b);
  llvm::Value* EmitLogic(const BinaryNode& node);
  llvm::Value* EmitVar(const VarNode& var);
  llvm::Value* EmitSelect(const SelectNode& node);
  llvm::Value* EmitLet(const LetNode& let);
  llvm::Value* EmitRamp(const RampNode& node);
  llvm::Value* EmitCall(const CallNode& call);
  llvm::Value* EmitLimit(const CallNode& call);
  llvm::Value* EmitBits(const CallNode& call);
  llvm::Value* EmitLdexp(const CallNode& call);
  llvm::Value* EmitFixedPoint(const CallNode& call);
  // Evaluates only the branch that `condition` chooses.
  template <typename Then, typename Else>
  llvm::Value* EmitBranches(llvm::Value* condition, Then then_value,
                            Else else_value);

  // Sums of neighbouring lanes (emit_lane_sums.cc).
  llvm::Value* EmitLaneSums(const CallNode& call);
  llvm::Value* EmitSumWithDotProduct(const BinaryNode& sum);
  llvm::Value* EmitDotProduct(const NarrowProduct& product, int steps,
                              llvm::Value* sums);
  bool HasDotProduct(const NarrowProduct& product, int64_t steps) const;
  llvm::Value* As16Bits(const Expr& e);

  // Arithmetic (emit_arithmetic.cc).
  llvm::Value* EmitFloatArithmetic(ExprKind kind, llvm::Value* a,
                                   llvm::Value* b);
  llvm::Value* EmitBf16Arithmetic(ExprKind kind, llvm::Value* a,
                                  llvm::Value* b);
  llvm::Value* EmitIntArithmetic(const BinaryNode& node, llvm::Value* a,
                                 llvm::Value* b);
  llvm::Value* EmitDivision(const BinaryNode& node, llvm::Value* a,
                            llvm::Value* b);
  llvm::Value* EmitQuotient(llvm::Value* a, llvm::Value* b);
  // Of a divisor with which the machine does not fault.
  llvm::Value* EmitIntQuotient(DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitIntRest(DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitQuotientOrRest(ExprKind kind, DType dtype, llvm::Value* a,
                                  llvm::Value* b);
  llvm::Value* EmitShift(const CallNode& call, llvm::Value* a, llvm::Value* b);

  // Conversions (emit_cast.cc).
  llvm::Value* RoundToOddF32(llvm::Value* value);
  llvm::Value* RoundToBf16(llvm::Value* value);
  // bfloat16 as the same numbers in float32, by their bits; others as given.
  // LLVM cannot generate code for comparisons, selections and copies of
  // bfloat16 in vectors of odd lengths.
  llvm::Value* Comparable(llvm::Value* value);
  // bfloat16 as its bits, in which it is kept in variables, goes from block to
  // block and is put into vectors: LLVM would call a function for each of these
  // where the machine has no instruction. Others as given.
  llvm::Value* Bits(llvm::Value* value);
  llvm::Value* InAllLanes(int lanes, llvm::Value* value);
  // Floats as wider ones.
  std::vector<llvm::Value*> Extended(const std::vector<llvm::Value*>& args,
                                     llvm::Type* element);
  // `condition ? a : b`, of bfloat16 by the bits.
  llvm::Value* Choose(llvm::Value* condition, llvm::Value* a, llvm::Value* b);
  llvm::Value* EmitFloatCast(DType to, DType from, llvm::Value* value);
  llvm::Value* EmitCast(DType to, DType from, llvm::Value* value);
  llvm::Value* EmitSaturated(DType to, llvm::Value* value);

  // Math (emit_math.cc).
  llvm::Value* EmitFloatMath(const CallNode& call);
  llvm::Value* EmitNarrowMath(const CallNode& call,
                              const std::vector<llvm::Value*>& args);
  llvm::Value* EmitWideMath(Intrinsic op,
                            const std::vector<llvm::Value*>& args);
  llvm::Value* EmitMagnitude(llvm::Value* x);
  llvm::Value* EmitClassification(Intrinsic op, llvm::Value* x);
  llvm::Value* EmitLibm(const char* name,
                        const std::vector<llvm::Value*>& args);
  llvm::Value* EmitInDoubles(Intrinsic op,
                             const std::vector<llvm::Value*>& args);

  // Polynomials (emit_polynomial.cc).
  llvm::Value* EmitPolynomial(Intrinsic op, llvm::Value* x);
  bool HasScalef(llvm::Type* type) const;
  llvm::Value* Scalef(llvm::Value* y, llvm::Value* n);
  // e^x as 2^n y, with n also in the low bits of whole numbers.
  struct ReducedExp {
    llvm::Value* y = nullptr;
    llvm::Value* n = nullptr;
    llvm::Value* bits = nullptr;
  };
  ReducedExp ReduceExp(llvm::Value* x, int bias);
  llvm::Value* PowerOfTwo(llvm::Value* bits, llvm::Type* type);
  llvm::Value* Clamp(llvm::Value* x, double least, double most);
  llvm::Value* ExpF32(llvm::Value* x);
  llvm::Value* ExpOfNegative(llvm::Value* x);
  llvm::Value* LogF32(llvm::Value* x);
  llvm::Value* TanhF32(llvm::Value* x);
  llvm::Value* ErfF32(llvm::Value* x);
  llvm::Value* MinusMagnitude(llvm::Value* x);
  llvm::Value* SigmoidOf(llvm::Value* x, llvm::Value* e);
  llvm::Value* Splat(double value, llvm::Type* like);
  llvm::Value* Polynomial(llvm::Value* x,
                          const std::vector<double>& high_first);
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);

  // Hints (emit_prefetch.cc).
  llvm::Value* EmitPrefetch(const CallNode& call);

  // Functions of others (emit_extern.cc).
  llvm::Value* EmitExtern(const CallNode& call);

  // Copies that transpose (emit_transpose.cc), where the function is marked.
  // How many of `stmts` were emitted together.
  size_t EmitTransposed(absl::Span<const Stmt> stmts);
  // `lanes` lanes of which only the first `count` are read, or stored.
  llvm::Value* LoadFirst(const Buffer& buffer, llvm::Value* address, int lanes,
                         int count);
  void StoreFirst(const Buffer& buffer, llvm::Value* address,
                  llvm::Value* value, int count);

  // Products of tiles of matrices (emit_tile_product.cc).
  // Whether those of a function take place.
  void FindTiles(const Stmt& body);
  // Makes the registers ready for those in `s`, unless they are or there are
  // none; whether it did.
  bool EnterTiles(const Stmt& s);
  void PrepareTiles();
  void ReleaseTiles();
  void LeaveTiles();
  void EmitTilePermission();
  // How many of `stmts` were emitted together: a product, and what makes its
  // sums zero before.
  size_t EmitTileProduct(absl::Span<const Stmt> stmts);
  void EmitTiles(const TileProduct& product, bool from_zero);

  llvm::Type* TypeOf(DType dtype);
  // The type of a value of `dtype` in memory: bools take a byte.
  llvm::Type* MemoryType(DType dtype);
  // Remembers the first error and gives a placeholder of the type.
  llvm::Value* Fail(absl::Status status, DType dtype);

  llvm::LLVMContext& context_;
  llvm::Module* module_;
  llvm::IRBuilder<> b_;
  const Target& target_;
  bool strict_ = false;          // ir/tensor/numerics.h
  bool is_transposing_ = false;  // whether transposed copies are looked for
  bool has_transposed_ = false;  // whether one was found
  std::set<const BufferNode*> in_place_;  // parameters that may be another one
  TileInstructions tiles_;      // none where the function has no use for them
  bool has_lane_sums_ = false;  // for combine_horizontal_adds.h to look for
  Frame frame_;
  std::string symbol_;
  int parallel_loops_ = 0;
  absl::Status status_;
};

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_EMITTER_H_
