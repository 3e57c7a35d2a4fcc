// Products of tiles of matrices (AMX; Intel's Software Developer's Manual,
// volume 1, chapter 18). Registers 0 to 7 hold 16 rows of 64 bytes each:
//
//   sums of 2 x 2 tiles            0 1
//                                  2 3
//   rows' and columns' operands    4 5   6 7
//
// (others likewise, sums first). What the registers hold is told to the
// processor before (ldtilecfg), which takes as long as ten of its products:
// around the outermost loop with products inside that runs on one thread and
// calls no function of others. Before that a process asks Linux for the
// permission to use them, once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/llvm/tile_product.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace kiln::codegen_internal {
namespace {

constexpr int kNoTiles = -6;  // KILN_KERNEL_NO_TILES
constexpr int kTileRowBytes = 64;
constexpr int kSumBytes = 4;

llvm::Intrinsic::ID ProductOf(const TileProduct& product) {
  if (product.rows_type.is_float()) return llvm::Intrinsic::x86_tdpbf16ps;
  const bool rows_signed = product.rows_type.is_int();
  const bool columns_signed = product.columns_type.is_int();
  return rows_signed      ? columns_signed ? llvm::Intrinsic::x86_tdpbssd
                                           : llvm::Intrinsic::x86_tdpbsud
         : columns_signed ? llvm::Intrinsic::x86_tdpbusd
                          : llvm::Intrinsic::x86_tdpbuud;
}

// Palette 1, and all registers with all rows and bytes.
llvm::Constant* FullTiles(llvm::LLVMContext& context) {
  std::array<uint8_t, 64> config = {1};
  for (int i = 0; i < kTileRegisters; ++i) {
    config[16 + 2 * i] = kTileRowBytes;
    config[48 + i] = kTileRows;
  }
  return llvm::ConstantDataArray::get(context, config);
}

llvm::GlobalVariable* Global(llvm::Module* module, const char* name,
                             llvm::Constant* value, bool is_constant) {
  llvm::GlobalVariable* known = module->getNamedGlobal(name);
  if (known) return known;
  return new llvm::GlobalVariable(*module, value->getType(), is_constant,
                                  llvm::GlobalValue::InternalLinkage, value,
                                  name);
}

// arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)
llvm::Value* AskForPermission(llvm::IRBuilder<>& b) {
  constexpr int kArchPrctl = 158, kRequest = 0x1023, kTileData = 18;
  llvm::Type* number = b.getInt64Ty();
  auto* type = llvm::FunctionType::get(number, {number, number, number}, false);
  auto* call = llvm::InlineAsm::get(
      type, "syscall",
      "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},"
      "~{flags}",
      true);
  return b.CreateCall(
      type, call,
      {b.getInt64(kArchPrctl), b.getInt64(kRequest), b.getInt64(kTileData)});
}

// The registers and addresses of one product.
class TileEmitter {
 public:
  TileEmitter(llvm::IRBuilder<>& b, const TileProduct& product)
      : b_(b),
        product_(product),
        down_(static_cast<int>(product.nest.down.extent)),
        across_(static_cast<int>(product.nest.across.extent)),
        rows_(down_ * across_),
        columns_(rows_ + down_) {}

  // From or to memory.
  void MoveSums(llvm::Intrinsic::ID move, llvm::Value* first) {
    for (int i = 0; i < down_; ++i) {
      for (int j = 0; j < across_; ++j) {
        const int64_t at =
            i * product_.nest.down.sums + j * product_.nest.across.sums;
        Move(move, i * across_ + j, Moved(first, at * kSumBytes),
             product_.nest.sums_row * kSumBytes);
      }
    }
  }

  void ZeroSums() {
    for (int i = 0; i < down_ * across_; ++i) {
      Call(llvm::Intrinsic::x86_tilezero, {Register(i)});
    }
  }

  // Of tiles whose operands begin there.
  void Step(llvm::Value* row, llvm::Value* column) {
    const TileNest& nest = product_.nest;
    const int64_t bytes = product_.rows_type.bytes();
    for (int i = 0; i < down_; ++i) {
      Load(rows_ + i, Moved(row, i * nest.down.rows * bytes),
           nest.rows_row * bytes);
    }
    for (int j = 0; j < across_; ++j) {
      const int to = columns_ + j % (kTileRegisters - columns_);
      Load(to, Moved(column, j * nest.across.columns * bytes),
           nest.columns_group * bytes);
      for (int i = 0; i < down_; ++i) {
        Call(ProductOf(product_),
             {Register(i * across_ + j), Register(rows_ + i), Register(to)});
      }
    }
  }

  llvm::Value* Moved(llvm::Value* address, int64_t bytes) {
    return b_.CreateGEP(b_.getInt8Ty(), address, b_.getInt64(bytes));
  }

 private:
  llvm::Value* Register(int number) { return b_.getInt8(number); }
  void Load(int to, llvm::Value* address, int64_t row_bytes) {
    Move(llvm::Intrinsic::x86_tileloadd64, to, address, row_bytes);
  }
  void Move(llvm::Intrinsic::ID move, int tile, llvm::Value* address,
            int64_t row_bytes) {
    Call(move, {Register(tile), address, b_.getInt64(row_bytes)});
  }
  void Call(llvm::Intrinsic::ID id, const std::vector<llvm::Value*>& args) {
    b_.CreateIntrinsic(id, {}, args);
  }

  llvm::IRBuilder<>& b_;
  const TileProduct& product_;
  const int down_, across_;
  const int rows_, columns_;  // first registers of the operands
};

}  // namespace

void Emitter::FindTiles(const Stmt& body) {
  tiles_ = target_.machine.vectors.tiles;
  if (strict_) tiles_.bf16 = false;
  if (!HoldsTileProduct(body, tiles_)) tiles_ = TileInstructions();
}

// The flag is only ever set to 1, and asking twice does no harm.
void Emitter::EmitTilePermission() {
  llvm::GlobalVariable* asked =
      Global(module_, "kiln.asked_for_tiles", b_.getInt32(0), false);
  llvm::LoadInst* before = b_.CreateLoad(b_.getInt32Ty(), asked);
  before->setAtomic(llvm::AtomicOrdering::Monotonic);
  auto* ask = llvm::BasicBlock::Create(context_, "ask", frame_.function);
  auto* after = llvm::BasicBlock::Create(context_, "may", frame_.function);
  b_.CreateCondBr(b_.CreateIsNull(before), ask, after);
  b_.SetInsertPoint(ask);
  llvm::Value* refused = b_.CreateIsNotNull(AskForPermission(b_));
  ReturnIfFailed(
      b_.CreateSelect(refused, b_.getInt32(kNoTiles), b_.getInt32(0)));
  b_.CreateStore(b_.getInt32(1), asked)
      ->setAtomic(llvm::AtomicOrdering::Monotonic);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

bool Emitter::EnterTiles(const Stmt& s) {
  if (tiles_ == TileInstructions() || frame_.has_tiles || LeavesFunction(s) ||
      !HoldsTileProduct(s, tiles_)) {
    return false;
  }
  PrepareTiles();
  return true;
}

void Emitter::PrepareTiles() {
  EmitTilePermission();
  b_.CreateIntrinsic(
      llvm::Intrinsic::x86_ldtilecfg, {},
      {Global(module_, "kiln.full_tiles", FullTiles(context_), true)});
  frame_.has_tiles = true;
}

void Emitter::ReleaseTiles() {
  b_.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
}

void Emitter::LeaveTiles() {
  ReleaseTiles();
  frame_.has_tiles = false;
}

size_t Emitter::EmitTileProduct(absl::Span<const Stmt> stmts) {
  if (tiles_ == TileInstructions()) return 0;
  for (size_t i = 0; i < std::min<size_t>(stmts.size(), 2); ++i) {
    const auto* loop = stmts[i].As<ForNode>();
    const auto product = loop ? FindTileProduct(*loop, tiles_) : std::nullopt;
    if (!product || (i > 0 && !MakesZero(stmts[0], *product))) continue;
    const bool enters = !frame_.has_tiles;
    if (enters) PrepareTiles();
    EmitTiles(*product, i > 0);
    if (enters) LeaveTiles();
    return i + 1;
  }
  return 0;
}

void Emitter::EmitTiles(const TileProduct& product, bool from_zero) {
  TileEmitter emitter(b_, product);
  const TileNest& nest = product.nest;
  llvm::Value* sums = Address(product.sums, product.first_sum);
  llvm::Value* row = Address(product.rows, product.first_row);
  llvm::Value* column = Address(product.columns, product.first_column);
  if (from_zero) {
    emitter.ZeroSums();
  } else {
    emitter.MoveSums(llvm::Intrinsic::x86_tileloadd64, sums);
  }
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* step = llvm::BasicBlock::Create(context_, "step", frame_.function);
  auto* after = llvm::BasicBlock::Create(context_, "after", frame_.function);
  b_.CreateBr(step);
  b_.SetInsertPoint(step);
  llvm::PHINode* at = b_.CreatePHI(b_.getInt64Ty(), 2);
  llvm::PHINode* row_now = b_.CreatePHI(b_.getPtrTy(), 2);
  llvm::PHINode* column_now = b_.CreatePHI(b_.getPtrTy(), 2);
  emitter.Step(row_now, column_now);
  const int64_t bytes = product.rows_type.bytes();
  llvm::Value* next = b_.CreateAdd(at, b_.getInt64(1));
  at->addIncoming(b_.getInt64(0), before);
  at->addIncoming(next, step);
  row_now->addIncoming(row, before);
  row_now->addIncoming(emitter.Moved(row_now, nest.steps.rows * bytes), step);
  column_now->addIncoming(column, before);
  column_now->addIncoming(emitter.Moved(column_now, nest.steps.columns * bytes),
                          step);
  b_.CreateCondBr(b_.CreateICmpSLT(next, b_.getInt64(nest.steps.extent)), step,
                  after);
  b_.SetInsertPoint(after);
  emitter.MoveSums(llvm::Intrinsic::x86_tilestored64, sums);
}

}  // namespace kiln::codegen_internal
