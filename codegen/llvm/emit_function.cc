// Kernels and parallel loops as pairs of functions:
//
//   i32 @mm(ptr host, ptr data, ptr scalars)      unpacks and calls
//   i32 @mm.body(ptr host, ptr noalias A, ...)    does the work
//   i32 @mm.par0(ptr env, i64 begin, i64 end)     unpacks and calls
//   i32 @mm.par0.body(ptr host, ptr noalias A, ..., i64 begin, i64 end)
//
// A kernel that only launches parallel loops does so from its entry: no body.
#include <set>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/llvm/emitter.h"
#include "kiln/ir/tensor/in_place.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/numerics.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/signature.h"

namespace kiln::codegen_internal {
namespace {

// Buffers that `s` writes.
std::set<const BufferNode*> WrittenBuffers(const Stmt& s) {
  std::set<const BufferNode*> written;
  Visit(s, [&](const Stmt& node) {
    if (const auto* store = node.As<StoreNode>()) {
      written.insert(store->buffer.get());
    }
    return true;
  });
  return written;
}

// For functions that only hand on: quick to compile, and left alone.
void MarkAsGlue(llvm::Function* function) {
  function->addFnAttr(llvm::Attribute::OptimizeNone);
  function->addFnAttr(llvm::Attribute::NoInline);
}

// Whether all that `s` computes stands in parallel loops.
bool OnlyLaunches(const Stmt& s) {
  bool only = true;
  Visit(s, [&](const Stmt& x) {
    const auto* loop = x.As<ForNode>();
    if (loop && loop->for_kind == ForKind::kParallel) return false;
    only = only && !loop && !x.As<StoreNode>();
    return only;
  });
  return only;
}

// bfloat16 goes from function to function as its bits: LLVM would call another
// function to pass one where the machine has no instruction for it.
llvm::Type* PassedType(llvm::Type* type) {
  return type->isBFloatTy() ? llvm::Type::getInt16Ty(type->getContext()) : type;
}

}  // namespace

Emitter::Emitter(llvm::Module* module, const Target& target)
    : context_(module->getContext()),
      module_(module),
      b_(context_),
      target_(target) {}

llvm::Function* Emitter::MakeFunction(const std::string& name,
                                      llvm::Type* result,
                                      const std::vector<llvm::Type*>& params,
                                      bool external) {
  auto* type = llvm::FunctionType::get(result, params, false);
  auto* function =
      llvm::Function::Create(type,
                             external ? llvm::Function::ExternalLinkage
                                      : llvm::Function::InternalLinkage,
                             name, module_);
  function->addFnAttr("target-cpu", target_.cpu);
  function->addFnAttr("target-features", target_.features);
  const std::string width = absl::StrCat(8 * target_.machine.vectors.bytes);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  // Reciprocals are divisions, which know about 0 and infinity.
  function->addFnAttr("reciprocal-estimates", "none");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  if (has_lane_sums_) function->addFnAttr(kLaneSums);
  llvm::BasicBlock::Create(context_, "entry", function);
  return function;
}

void Emitter::MarkPointers(llvm::Function* body,
                           const std::vector<Capture>& params) {
  for (size_t i = 0; i < params.size(); ++i) {
    const BufferNode* buffer = params[i].buffer;
    if (!buffer) continue;
    llvm::Argument* arg = body->getArg(i + 1);
    if (in_place_.count(buffer) == 0) arg->addAttr(llvm::Attribute::NoAlias);
    arg->addAttr(llvm::Attribute::get(
        context_, llvm::Attribute::Alignment,
        KernelAlignment(buffer->alignment, buffer->dtype.Element().bytes())));
  }
}

std::vector<llvm::Value*> Emitter::LoadParams(
    llvm::Function* entry, const std::vector<Capture>& params) {
  llvm::Type* ptr = b_.getPtrTy();
  std::vector<llvm::Value*> args;
  int next_buffer = 0, next_scalar = 0;
  for (const Capture& param : params) {
    if (param.buffer) {
      args.push_back(b_.CreateLoad(
          ptr, b_.CreateConstGEP1_64(ptr, entry->getArg(1), next_buffer++)));
      continue;
    }
    const bool is_float = param.var->dtype.is_float();
    llvm::Type* type = TypeOf(param.var->dtype);
    llvm::Type* stored = is_float ? b_.getDoubleTy() : b_.getInt64Ty();
    llvm::Value* raw = b_.CreateLoad(
        stored, b_.CreateConstGEP1_64(b_.getInt64Ty(), entry->getArg(2),
                                      next_scalar++));
    args.push_back(is_float
                       ? EmitFloatCast(param.var->dtype, DType::Float(64), raw)
                       : b_.CreateTrunc(raw, type));
  }
  return args;
}

// The parameters of the kernel's body: buffers, scalars, dimensions.
std::vector<Emitter::Capture> Emitter::KernelParams(const Function& f) {
  std::vector<Capture> params;
  for (const Param& param : f.params) {
    if (param.buffer) params.push_back({nullptr, param.buffer.get()});
  }
  for (const Param& param : f.params) {
    if (!param.buffer) params.push_back({param.var.get()});
  }
  for (const Var& dim : SymbolicDims(f)) params.push_back({dim.get()});
  return params;
}

void Emitter::Enter(llvm::Function* function,
                    const std::vector<Capture>& params,
                    absl::Span<llvm::Value* const> values) {
  frame_ = Frame();
  frame_.function = function;
  frame_.host = function->getArg(0);
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].buffer) frame_.buffers[params[i].buffer] = values[i];
    if (params[i].var) frame_.vars[params[i].var] = Bits(values[i]);
  }
}

void Emitter::EnterBody(llvm::Function* body,
                        const std::vector<Capture>& params) {
  b_.SetInsertPoint(&body->getEntryBlock());
  std::vector<llvm::Value*> values;
  for (size_t i = 0; i < params.size(); ++i) {
    values.push_back(body->getArg(i + 1));
  }
  Enter(body, params, values);
}

llvm::Function* Emitter::MakeKernelBody(const std::vector<Capture>& params) {
  std::vector<llvm::Type*> types = {b_.getPtrTy()};
  for (const Capture& param : params) {
    types.push_back(param.buffer ? b_.getPtrTy()
                                 : PassedType(TypeOf(param.var->dtype)));
  }
  llvm::Function* body =
      MakeFunction(symbol_ + ".body", b_.getInt32Ty(), types, false);
  MarkPointers(body, params);
  return body;
}

// What loaders compare with theirs (vm/library/kernel_abi.h). Weak, since a
// program may link several kernels of one name under others (docs/tuning.md).
void Emitter::EmitVersion(const std::string& symbol) {
  // Modules own their globals.
  new llvm::GlobalVariable(
      *module_, b_.getInt32Ty(), true, llvm::GlobalValue::WeakODRLinkage,
      b_.getInt32(KILN_KERNEL_ABI_VERSION), symbol + KILN_KERNEL_ABI_SUFFIX);
}

absl::Status Emitter::EmitKernel(const Function& f, const std::string& symbol) {
  symbol_ = symbol;
  EmitVersion(symbol);
  strict_ = IsStrict(f);
  is_transposing_ = IsMarked(f, kTransposedCopy);
  has_lane_sums_ = IsMarked(f, kLaneSums);
  FindTiles(f.body);
  KILN_ASSIGN_OR_RETURN(const std::vector<InPlacePair> pairs, InPlacePairs(f));
  in_place_.clear();
  for (const InPlacePair& pair : pairs) {
    in_place_.insert(f.params[pair.read].buffer.get());
    in_place_.insert(f.params[pair.written].buffer.get());
  }
  llvm::FastMathFlags flags;
  flags.setAllowContract(!strict_);
  b_.setFastMathFlags(flags);
  llvm::Type* ptr = b_.getPtrTy();
  const std::vector<Capture> params = KernelParams(f);
  llvm::Function* entry =
      MakeFunction(symbol, b_.getInt32Ty(), {ptr, ptr, ptr}, true);
  MarkAsGlue(entry);
  b_.SetInsertPoint(&entry->getEntryBlock());
  std::vector<llvm::Value*> args = LoadParams(entry, params);
  if (OnlyLaunches(f.body)) {
    Enter(entry, params, args);
  } else {
    llvm::Function* body = MakeKernelBody(params);
    for (llvm::Value*& arg : args) arg = Bits(arg);
    args.insert(args.begin(), entry->getArg(0));
    b_.CreateRet(b_.CreateCall(body, args));
    EnterBody(body, params);
  }
  Emit(f.body);
  EmitReturn(b_.getInt32(0));
  if (is_transposing_ && !has_transposed_) {
    entry->addFnAttr(kTransposedCopy,
                     "ignored: no stores next to each other write the columns "
                     "of a square of 4, 8 or 16 elements");
  }
  return status_;
}

std::vector<Emitter::Capture> Emitter::FindCaptures(const ForNode& loop) const {
  std::vector<Capture> captures;
  std::set<const Node*> seen;
  auto capture_var = [&](const VarNode* var) {
    auto found = frame_.vars.find(var);
    if (found == frame_.vars.end() || !seen.insert(var).second) return;
    captures.push_back({var, nullptr, found->second});
  };
  auto capture_buffer = [&](const BufferNode* buffer) {
    auto found = frame_.buffers.find(buffer);
    if (found == frame_.buffers.end() || !seen.insert(buffer).second) return;
    captures.push_back({nullptr, buffer, found->second});
  };
  auto use = [&](const Expr& e) {
    if (const auto* var = e.As<VarNode>()) capture_var(var);
    if (const auto* load = e.As<LoadNode>()) capture_buffer(load->buffer.get());
    return true;
  };
  Visit(loop.min, use);
  VisitExprs(loop.body, use);
  for (const BufferNode* buffer : WrittenBuffers(loop.body)) {
    capture_buffer(buffer);
  }
  return captures;
}

llvm::Function* Emitter::EmitParallelBody(
    const ForNode& loop, const std::vector<Capture>& captures) {
  std::vector<llvm::Type*> types = {b_.getPtrTy()};
  for (const Capture& capture : captures) {
    types.push_back(capture.value->getType());
  }
  types.insert(types.end(), 2, b_.getInt64Ty());
  const std::string name =
      absl::StrCat(symbol_, ".par", parallel_loops_, ".body");
  llvm::Function* body = MakeFunction(name, b_.getInt32Ty(), types, false);
  MarkPointers(body, captures);

  Frame outer = std::move(frame_);
  EnterBody(body, captures);
  frame_.in_parallel = true;
  const size_t bounds = captures.size() + 1;
  llvm::Value* min = Emit(loop.min);
  EmitLoop(loop, b_.CreateAdd(min, body->getArg(bounds)),
           b_.CreateAdd(min, body->getArg(bounds + 1)));
  EmitReturn(b_.getInt32(0));
  frame_ = std::move(outer);
  return body;
}

llvm::Function* Emitter::EmitParallelEntry(llvm::Function* body,
                                           const std::vector<Capture>& captures,
                                           llvm::StructType* env_type) {
  llvm::Function* entry = MakeFunction(
      absl::StrCat(symbol_, ".par", parallel_loops_), b_.getInt32Ty(),
      {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
  MarkAsGlue(entry);
  b_.SetInsertPoint(&entry->getEntryBlock());
  std::vector<llvm::Value*> args;
  for (size_t i = 0; i < captures.size() + 1; ++i) {
    args.push_back(
        b_.CreateLoad(env_type->getElementType(i),
                      b_.CreateStructGEP(env_type, entry->getArg(0), i)));
  }
  args.push_back(entry->getArg(1));
  args.push_back(entry->getArg(2));
  b_.CreateRet(b_.CreateCall(body, args));
  return entry;
}

void Emitter::EmitParallel(const ForNode& loop) {
  llvm::Value* extent = Emit(loop.extent);
  const std::vector<Capture> captures = FindCaptures(loop);
  std::vector<llvm::Type*> types = {b_.getPtrTy()};
  for (const Capture& capture : captures) {
    types.push_back(capture.value->getType());
  }
  auto* env_type = llvm::StructType::get(context_, types);
  const auto resume = b_.saveIP();
  llvm::Function* body = EmitParallelBody(loop, captures);
  llvm::Function* entry = EmitParallelEntry(body, captures, env_type);
  ++parallel_loops_;
  b_.restoreIP(resume);

  llvm::IRBuilder<> at_entry(&frame_.function->getEntryBlock(),
                             frame_.function->getEntryBlock().begin());
  llvm::Value* env = at_entry.CreateAlloca(env_type);
  b_.CreateStore(frame_.host, b_.CreateStructGEP(env_type, env, 0));
  for (size_t i = 0; i < captures.size(); ++i) {
    llvm::Value* value =
        b_.CreateBitCast(captures[i].value, env_type->getElementType(i + 1));
    b_.CreateStore(value, b_.CreateStructGEP(env_type, env, i + 1));
  }
  auto* type = llvm::FunctionType::get(
      b_.getInt32Ty(),
      {b_.getPtrTy(), b_.getInt64Ty(), b_.getPtrTy(), b_.getPtrTy()}, false);
  ReturnIfFailed(
      b_.CreateCall(type, HostField(0), {frame_.host, extent, entry, env}));
}

llvm::Value* Emitter::HostField(int index) {
  llvm::Type* ptr = b_.getPtrTy();
  return b_.CreateLoad(ptr, b_.CreateConstGEP1_64(ptr, frame_.host, index));
}

void Emitter::EmitReturn(llvm::Value* status) {
  if (frame_.has_tiles) ReleaseTiles();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                       {b_.getPtrTy(), b_.getPtrTy()}, false);
  for (size_t i = frame_.workspaces.size(); i-- > 0;) {
    b_.CreateCall(type, HostField(2), {frame_.host, frame_.workspaces[i]});
  }
  b_.CreateRet(status);
}

void Emitter::ReturnIfFailed(llvm::Value* status) {
  auto* failed = llvm::BasicBlock::Create(context_, "failed", frame_.function);
  auto* next = llvm::BasicBlock::Create(context_, "next", frame_.function);
  b_.CreateCondBr(b_.CreateICmpNE(status, b_.getInt32(0)), failed, next);
  b_.SetInsertPoint(failed);
  EmitReturn(status);
  b_.SetInsertPoint(next);
}

llvm::Value* Emitter::Fail(absl::Status status, DType dtype) {
  if (status_.ok()) status_ = std::move(status);
  return llvm::PoisonValue::get(TypeOf(dtype));
}

}  // namespace kiln::codegen_internal
