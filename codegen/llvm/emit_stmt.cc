// Statements: loops, branches, storage. A loop tests at its end, so that an
// iteration takes one branch, and no pass has to rotate it:
//
//   for i in range(a, b)   →         br (a < b), i, after
//                            i:      %i1 = phi [a, before], [%next, its end]
//                                    the body
//                                    %next = %i1 + 1
//                                    br (%next < b), i, after
//
// Arrays on the stack belong to the entry block, so that a loop around their
// allocation does not grow the stack. Workspaces are asked of the host; where
// it has no memory, the kernel frees the workspaces that it holds and returns
// the error. What cannot be emitted is noted once (Fail), and emission goes on
// with poison, so that no caller has to look for errors.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/codegen/llvm/emitter.h"

namespace kiln::codegen_internal {
namespace {

constexpr int32_t kOutOfMemory = -1;  // KILN_KERNEL_OUT_OF_MEMORY
constexpr int64_t kStackAlignment = 64;
// What one allocation may take of the stack, in bytes.
constexpr int64_t kMaxStackBytes = 64 << 10;

}  // namespace

void Emitter::Emit(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kFor:
      if (EmitTileProduct({s}) > 0) return;
      return EmitFor(*s.As<ForNode>());
    case StmtKind::kSeq:
      return EmitSeq(*s.As<SeqNode>());
    case StmtKind::kStore:
      return EmitStore(*s.As<StoreNode>());
    case StmtKind::kIf:
      return EmitIf(*s.As<IfNode>());
    case StmtKind::kLet: {
      const auto* let = s.As<LetStmtNode>();
      frame_.vars[let->var.get()] = Bits(Emit(let->value));
      Emit(let->body);
      frame_.vars.erase(let->var.get());
      return;
    }
    case StmtKind::kAllocate:
      return EmitAllocate(*s.As<AllocateNode>());
    case StmtKind::kEvaluate:
      if (!AsInt(s.As<EvaluateNode>()->value))
        Emit(s.As<EvaluateNode>()->value);
      return;
    case StmtKind::kBlockRealize:
      Fail(absl::InvalidArgumentError(absl::StrCat(
               "block \"", s.As<BlockRealizeNode>()->block->name,
               "\" reaches code generation; lower the function first")),
           DType::Bool());
      return;
  }
}

void Emitter::EmitSeq(const SeqNode& seq) {
  const absl::Span<const Stmt> stmts(seq.stmts);
  for (size_t i = 0; i < stmts.size();) {
    size_t together = EmitTransposed(stmts.subspan(i));
    if (together == 0) together = EmitTileProduct(stmts.subspan(i));
    if (together == 0) Emit(stmts[i]);
    i += std::max<size_t>(together, 1);
  }
}

void Emitter::EmitFor(const ForNode& loop) {
  switch (loop.for_kind) {
    case ForKind::kSerial:
    case ForKind::kUnrolled: {
      llvm::Value* min = Emit(loop.min);
      return EmitLoop(loop, min, b_.CreateAdd(min, Emit(loop.extent)));
    }
    case ForKind::kParallel:
      return EmitParallel(loop);
    case ForKind::kVectorized:
    case ForKind::kThreadBinding:
      Fail(absl::InvalidArgumentError(absl::StrCat(
               "loop ", loop.var.name(), " is ",
               loop.for_kind == ForKind::kVectorized ? "vectorized"
                                                     : loop.thread_tag,
               ", which code generation for a CPU cannot express; lower the "
               "function first or bind the loop to nothing")),
           DType::Bool());
      return;
  }
}

void Emitter::EmitLoop(const ForNode& loop, llvm::Value* begin,
                       llvm::Value* end) {
  const bool enters_tiles = EnterTiles(loop.body);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* body =
      llvm::BasicBlock::Create(context_, loop.var.name(), frame_.function);
  auto* after = llvm::BasicBlock::Create(context_, "after", frame_.function);
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), body, after);
  b_.SetInsertPoint(body);
  llvm::PHINode* var = b_.CreatePHI(b_.getInt64Ty(), 2, loop.var.name());
  var->addIncoming(begin, before);
  frame_.vars[loop.var.get()] = var;
  Emit(loop.body);
  frame_.vars.erase(loop.var.get());
  llvm::Value* next = b_.CreateNSWAdd(var, b_.getInt64(1));
  var->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), body, after);
  b_.SetInsertPoint(after);
  if (enters_tiles) LeaveTiles();
}

void Emitter::EmitIf(const IfNode& node) {
  llvm::Value* condition = Emit(node.condition);
  auto* then_block =
      llvm::BasicBlock::Create(context_, "then", frame_.function);
  auto* end_block =
      llvm::BasicBlock::Create(context_, "endif", frame_.function);
  auto* else_block = node.else_case ? llvm::BasicBlock::Create(context_, "else",
                                                               frame_.function)
                                    : end_block;
  b_.CreateCondBr(condition, then_block, else_block);
  b_.SetInsertPoint(then_block);
  Emit(node.then_case);
  b_.CreateBr(end_block);
  if (node.else_case) {
    b_.SetInsertPoint(else_block);
    Emit(node.else_case);
    b_.CreateBr(end_block);
  }
  b_.SetInsertPoint(end_block);
}

llvm::Value* Emitter::EmitStackSlot(const Buffer& buffer, int64_t elements) {
  llvm::BasicBlock& entry = frame_.function->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  auto* type = llvm::ArrayType::get(MemoryType(buffer->dtype.Element()),
                                    elements * buffer->dtype.lanes());
  llvm::AllocaInst* slot = at_entry.CreateAlloca(type, nullptr, buffer->name);
  slot->setAlignment(llvm::Align(kStackAlignment));
  return slot;
}

llvm::Value* Emitter::EmitWorkspace(const Buffer& buffer) {
  llvm::Value* bytes = b_.getInt64(buffer->dtype.bytes());
  for (const Expr& extent : buffer->shape) {
    bytes = b_.CreateMul(bytes, Emit(extent));
  }
  auto* type = llvm::FunctionType::get(b_.getPtrTy(),
                                       {b_.getPtrTy(), b_.getInt64Ty()}, false);
  llvm::CallInst* address =
      b_.CreateCall(type, HostField(1), {frame_.host, bytes});
  address->addRetAttr(llvm::Attribute::NoAlias);
  address->addRetAttr(
      llvm::Attribute::get(context_, llvm::Attribute::Alignment, 64));
  llvm::Value* missing = b_.CreateIsNull(address);
  ReturnIfFailed(
      b_.CreateSelect(missing, b_.getInt32(kOutOfMemory), b_.getInt32(0)));
  return address;
}

void Emitter::EmitAllocate(const AllocateNode& node) {
  const Buffer& buffer = node.buffer;
  if (node.is_view) {
    Fail(absl::UnimplementedError(
             absl::StrCat("buffer ", buffer->name,
                          " is a view of other storage; lowering "
                          "has to resolve views before code is emitted")),
         DType::Bool());
    return;
  }
  int64_t elements = 1;
  bool constant = true;
  for (const Expr& extent : buffer->shape) {
    const int64_t* known = AsInt(extent);
    constant = constant && known &&
               !__builtin_mul_overflow(elements, *known, &elements);
  }
  const bool on_stack = constant && buffer->scope == "local" &&
                        elements <= kMaxStackBytes / buffer->dtype.bytes();
  if (on_stack) {
    frame_.buffers[buffer.get()] = EmitStackSlot(buffer, elements);
    Emit(node.body);
  } else {
    llvm::Value* workspace = EmitWorkspace(buffer);
    frame_.buffers[buffer.get()] = workspace;
    frame_.workspaces.push_back(workspace);
    Emit(node.body);
    frame_.workspaces.pop_back();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(),
                                         {b_.getPtrTy(), b_.getPtrTy()}, false);
    b_.CreateCall(type, HostField(2), {frame_.host, workspace});
  }
  frame_.buffers.erase(buffer.get());
}

}  // namespace kiln::codegen_internal
