// Programs are built from loops and blocks of their own, not by schedules, so
// that a test of lowering fails for nothing but lowering. Nest collects loops
// and puts them around a body; BlockMaker binds iterators, and adds `value <
// extent` to the predicate where the loops span more than the extent.
// TiledMatmul({}) is
//
//   for i0 in 2, j0 in 2:
//     for i1 in unrolled(6), j1 in unrolled(4), v in vectorized(16):
//       block C_init: C_local[vi, vj] = 0
//     for k0 in 8, k1 in unrolled(1), i1, j1, v:
//       block C_update: C_local[vi, vj] += A[vi, vk] * B[vk, vj]
//     for i1, j1, v:
//       block C_write: C[vi, vj] = C_local[vi, vj]
//
// with vi = i0*6 + i1 and vj = j0*64 + j1*16 + v.
#include "kiln/codegen/lower/sample_programs.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

const DType kF32 = DType::Float(32);

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

Param TensorParam(const Buffer& buffer) {
  return {Var(buffer->name + "_handle", DType::Handle()), buffer};
}

// A loop nest under construction.
class Nest {
 public:
  explicit Nest(Function* f) : f_(f) {}
  Var Loop(const std::string& name, int64_t extent,
           ForKind kind = ForKind::kSerial) {
    loops_.push_back({Var(name), extent, kind});
    return loops_.back().var;
  }
  Stmt Around(Stmt body) const {
    for (size_t i = loops_.size(); i-- > 0;) {
      body = MakeFor(f_->NewId(), loops_[i].var, Int(loops_[i].extent), body,
                     loops_[i].kind);
    }
    return body;
  }

 private:
  struct Item {
    Var var;
    int64_t extent;
    ForKind kind;
  };
  Function* f_;
  std::vector<Item> loops_;
};

// A block under construction.
struct BlockMaker {
  Function* f;
  BlockFields fields;
  std::vector<Expr> values;
  Expr predicate = Bool(true);

  Var Iter(const std::string& name, int64_t extent, const Expr& value,
           int64_t span, IterType type = IterType::kSpatial) {
    Var var(name);
    fields.iters.push_back({var, {Int(0), Int(extent)}, type});
    values.push_back(value);
    if (span != extent) {
      Expr inside = LT(value, Int(extent));
      predicate = IsOne(predicate) ? inside : And(predicate, inside);
    }
    return var;
  }
  Stmt Make(const std::string& name, Stmt body) {
    fields.id = f->NewId();
    fields.name = name;
    fields.body = std::move(body);
    return MakeRealize(values, predicate, MakeBlock(std::move(fields)));
  }
};

class MatmulMaker {
 public:
  explicit MatmulMaker(const MatmulTiling& t) : t_(t) {}
  Function Make();

 private:
  Stmt Init(const Buffer& c);
  Stmt Update(const Buffer& c);
  Stmt WriteBack(const Buffer& c);
  // Binds the spatial iterators of a block in its register tile.
  void BindTile(BlockMaker* block, Nest* nest, Var* vi, Var* vj);

  MatmulTiling t_;
  Function f_;
  Buffer a_, b_, c_;
  Var i0_, j0_;
};

void MatmulMaker::BindTile(BlockMaker* block, Nest* nest, Var* vi, Var* vj) {
  const int64_t width = t_.vectors * t_.lanes;
  Var i1 = nest->Loop("i1", t_.rows, t_.tile_loop);
  Var j1 = nest->Loop("j1", t_.vectors, t_.tile_loop);
  Var v = nest->Loop("v", t_.lanes, ForKind::kVectorized);
  *vi = block->Iter("vi", t_.m, Add(Mul(i0_, Int(t_.rows)), i1),
                    CeilDiv(t_.m, t_.rows) * t_.rows);
  *vj = block->Iter("vj", t_.n,
                    Add(Add(Mul(j0_, Int(width)), Mul(j1, Int(t_.lanes))), v),
                    CeilDiv(t_.n, width) * width);
}

Stmt MatmulMaker::Init(const Buffer& c) {
  Nest nest(&f_);
  BlockMaker block{&f_};
  Var vi, vj;
  BindTile(&block, &nest, &vi, &vj);
  block.fields.writes = {{c, PointRegion({vi, vj})}};
  return nest.Around(block.Make("C_init", MakeStore(c, Float(0), {vi, vj})));
}

Stmt MatmulMaker::Update(const Buffer& c) {
  Nest nest(&f_);
  BlockMaker block{&f_};
  Var k0 = nest.Loop("k0", CeilDiv(t_.k, t_.k_inner));
  Var k1 = nest.Loop("k1", t_.k_inner, ForKind::kUnrolled);
  Var vi, vj;
  BindTile(&block, &nest, &vi, &vj);
  Var vk =
      block.Iter("vk", t_.k, Add(Mul(k0, Int(t_.k_inner)), k1),
                 CeilDiv(t_.k, t_.k_inner) * t_.k_inner, IterType::kReduce);
  block.fields.reads = {{a_, PointRegion({vi, vk})},
                        {b_, PointRegion({vk, vj})}};
  block.fields.writes = {{c, PointRegion({vi, vj})}};
  if (!t_.decompose) block.fields.init = MakeStore(c, Float(0), {vi, vj});
  Expr product = Mul(Load(a_, {vi, vk}), Load(b_, {vk, vj}));
  Stmt update = MakeStore(c, Add(Load(c, {vi, vj}), product), {vi, vj});
  return nest.Around(block.Make("C_update", update));
}

Stmt MatmulMaker::WriteBack(const Buffer& c) {
  Nest nest(&f_);
  BlockMaker block{&f_};
  Var vi, vj;
  BindTile(&block, &nest, &vi, &vj);
  block.fields.reads = {{c, PointRegion({vi, vj})}};
  block.fields.writes = {{c_, PointRegion({vi, vj})}};
  return nest.Around(
      block.Make("C_write", MakeStore(c_, Load(c, {vi, vj}), {vi, vj})));
}

Function MatmulMaker::Make() {
  f_.name = "matmul";
  a_ = MakeBuffer("A", kF32, {Int(t_.m), Int(t_.k)});
  b_ = MakeBuffer("B", kF32, {Int(t_.k), Int(t_.n)});
  c_ = MakeBuffer("C", kF32, {Int(t_.m), Int(t_.n)});
  f_.params = {TensorParam(a_), TensorParam(b_), TensorParam(c_)};
  Nest nest(&f_);
  i0_ = nest.Loop("i0", CeilDiv(t_.m, t_.rows), t_.row_loop);
  j0_ = nest.Loop("j0", CeilDiv(t_.n, t_.vectors * t_.lanes));
  Buffer local = MakeBuffer("C_local", kF32, {Int(t_.m), Int(t_.n)}, "local");
  const Buffer& c = t_.local_accumulator ? local : c_;
  std::vector<Stmt> stmts;
  if (t_.decompose) stmts.push_back(Init(c));
  stmts.push_back(Update(c));
  if (t_.local_accumulator) stmts.push_back(WriteBack(c));
  std::vector<Buffer> allocated;
  if (t_.local_accumulator) allocated.push_back(local);
  Stmt body = nest.Around(MakeSeq(std::move(stmts)));
  f_.body = MakeRoot(f_.NewId(), allocated, body);
  return f_;
}

std::vector<Tensor> RandomArguments(const Function& f, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Tensor> args;
  for (const Param& param : f.params) {
    std::vector<int64_t> shape;
    for (const Expr& e : param.buffer->shape) shape.push_back(*AsInt(e));
    Tensor tensor(param.buffer->dtype, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      tensor.Set(i, static_cast<double>(random() % 9) - 4);
    }
    args.push_back(std::move(tensor));
  }
  return args;
}

}  // namespace

Function TiledMatmul(const MatmulTiling& tiling) {
  return MatmulMaker(tiling).Make();
}

Function PaddedConv(int64_t height, int64_t width, int64_t taps, int64_t pad,
                    int64_t row_tile, int64_t lanes) {
  Function f;
  f.name = "conv";
  const int64_t out_h = height + 2 * pad - taps + 1;
  const int64_t out_w = width + 2 * pad - taps + 1;
  Buffer x = MakeBuffer("X", kF32, {Int(height), Int(width)});
  Buffer w = MakeBuffer("W", kF32, {Int(taps), Int(taps)});
  Buffer y = MakeBuffer("Y", kF32, {Int(out_h), Int(out_w)});
  f.params = {TensorParam(x), TensorParam(w), TensorParam(y)};
  Nest nest(&f);
  Var h0 = nest.Loop("h0", CeilDiv(out_h, row_tile), ForKind::kParallel);
  Var w0 = nest.Loop("w0", CeilDiv(out_w, lanes));
  Var r = nest.Loop("r", taps), s = nest.Loop("s", taps);
  Var h1 = nest.Loop("h1", row_tile, ForKind::kUnrolled);
  Var w1 = nest.Loop("w1", lanes, ForKind::kVectorized);
  BlockMaker block{&f};
  Var vh = block.Iter("vh", out_h, Add(Mul(h0, Int(row_tile)), h1),
                      CeilDiv(out_h, row_tile) * row_tile);
  Var vw = block.Iter("vw", out_w, Add(Mul(w0, Int(lanes)), w1),
                      CeilDiv(out_w, lanes) * lanes);
  Var vr = block.Iter("vr", taps, r, taps, IterType::kReduce);
  Var vs = block.Iter("vs", taps, s, taps, IterType::kReduce);
  Expr row = Sub(Add(vh, vr), Int(pad)), column = Sub(Add(vw, vs), Int(pad));
  Expr inside = And(And(LE(Int(0), row), LT(row, Int(height))),
                    And(LE(Int(0), column), LT(column, Int(width))));
  Expr tap = Call(kF32, Intrinsic::kIfThenElse,
                  {inside, Load(x, {row, column}), Float(0)});
  block.fields.init = MakeStore(y, Float(0), {vh, vw});
  Expr sum = Add(Load(y, {vh, vw}), Mul(tap, Load(w, {vr, vs})));
  block.fields.writes = {{y, PointRegion({vh, vw})}};
  Stmt body = nest.Around(block.Make("Y", MakeStore(y, sum, {vh, vw})));
  f.body = MakeRoot(f.NewId(), {}, body);
  return f;
}

absl::Status CompareMeaning(const Function& f, const Function& lowered,
                            uint64_t seed) {
  std::vector<Tensor> expected = RandomArguments(f, seed);
  std::vector<Tensor> actual = RandomArguments(lowered, seed);
  KILN_RETURN_IF_ERROR(Interpret(f, expected));
  KILN_RETURN_IF_ERROR(Interpret(lowered, actual));
  for (size_t p = 0; p < expected.size(); ++p) {
    if (expected[p].bytes == actual[p].bytes) continue;
    return absl::InternalError(absl::StrCat(
        "parameter ", f.params[p].buffer->name, " differs after lowering"));
  }
  return absl::OkStatus();
}

}  // namespace kiln::lower
