#include "kiln/codegen/lower/blocks/place_buffers.h"

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

const Buffer kIn = MakeBuffer("In", DType::Float(32), {Int(8), Int(8)});
const Buffer kOut = MakeBuffer("Out", DType::Float(32), {Int(8), Int(8)});

// A block over (vi, vk) bound to (i, k), vk of the given type, that writes
// t[vi] and reads what `value` reads.
Stmt WriteRow(const Buffer& t, const Expr& i, const Expr& k, IterType type,
              bool updates) {
  Var vi("vi"), vk("vk");
  BlockFields fields;
  fields.name = "W";
  fields.iters = {{vi, {Int(0), Int(8)}, IterType::kSpatial},
                  {vk, {Int(0), Int(8)}, type}};
  fields.writes = {{t, PointRegion({vi})}};
  Expr value = Load(kIn, {vi, vk});
  if (updates) value = Add(Load(t, {vi}), value);
  fields.body = MakeStore(t, value, {vi});
  return MakeRealize({i, k}, Bool(true), MakeBlock(fields));
}

Stmt ReadRow(const Buffer& t, const Expr& i, const Expr& k) {
  Var vi("vi"), vk("vk");
  BlockFields fields;
  fields.name = "R";
  fields.iters = {{vi, {Int(0), Int(8)}, IterType::kSpatial},
                  {vk, {Int(0), Int(8)}, IterType::kSpatial}};
  fields.body = MakeStore(kOut, Load(t, {vi}), {vi, vk});
  return MakeRealize({i, k}, Bool(true), MakeBlock(fields));
}

// The variable of the loop whose body allocates; "" for the root.
std::string SiteOf(const Stmt& body) {
  std::string site = "none", loop;
  Visit(body, [&](const Stmt& s) {
    if (const auto* f = s.As<ForNode>()) {
      loop = f->var.name();
      if (f->body.As<AllocateNode>()) site = loop;
    }
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize && realize->block->body.As<AllocateNode>()) {
      site = realize->block->name;
    }
    return true;
  });
  return site;
}

std::string PlacedAt(const Buffer& t, const Stmt& body) {
  Function f;
  f.body = MakeRoot(1, {t}, body);
  return SiteOf(PlaceBuffers(f)->body);
}

TEST(PlaceBuffersTest, AStageUsedInOneIterationIsAllocatedThere) {
  Buffer t = MakeBuffer("T", DType::Float(32), {Int(8)});
  Var i("i"), k("k");
  Stmt body =
      MakeSeq({WriteRow(t, i, k, IterType::kSpatial, false), ReadRow(t, i, k)});
  body = MakeFor(3, k, Int(8), body);
  EXPECT_EQ(PlacedAt(t, MakeFor(2, i, Int(8), body)), "k");
}

TEST(PlaceBuffersTest, AReductionLoopCarriesItsResult) {
  Buffer t = MakeBuffer("T", DType::Float(32), {Int(8)});
  Var i("i"), k("k");
  Stmt body =
      MakeSeq({WriteRow(t, i, k, IterType::kReduce, true), ReadRow(t, i, k)});
  body = MakeFor(3, k, Int(8), body);
  EXPECT_EQ(PlacedAt(t, MakeFor(2, i, Int(8), body)), "i");
}

TEST(PlaceBuffersTest, ReadersInAReductionLoopDoNotCarry) {
  Buffer t = MakeBuffer("T", DType::Float(32), {Int(8)});
  Buffer sum = MakeBuffer("S", DType::Float(32), {Int(8)});
  Var i("i"), k("k"), vi("vi"), vk("vk");
  BlockFields fields;
  fields.name = "Sum";
  fields.iters = {{vi, {Int(0), Int(8)}, IterType::kSpatial},
                  {vk, {Int(0), Int(8)}, IterType::kReduce}};
  fields.writes = {{sum, PointRegion({vi})}};
  fields.body = MakeStore(sum, Add(Load(sum, {vi}), Load(t, {vi})), {vi});
  Stmt reader = MakeRealize({i, k}, Bool(true), MakeBlock(fields));
  Stmt body = MakeSeq({WriteRow(t, i, k, IterType::kSpatial, false), reader});
  body = MakeFor(3, k, Int(8), body);
  EXPECT_EQ(PlacedAt(t, MakeFor(2, i, Int(8), body)), "k");
}

TEST(PlaceBuffersTest, StatementsOutsideOfBlocksKeepTheDeclaredPlace) {
  Buffer t = MakeBuffer("T", DType::Float(32), {Int(8)});
  Var i("i");
  Stmt body = MakeStore(t, Add(Load(t, {Int(0)}), Float(1)), {Int(0)});
  EXPECT_EQ(PlacedAt(t, MakeFor(2, i, Int(8), body)), "root");
}

TEST(PlaceBuffersTest, AnUnusedBufferIsDropped) {
  Buffer t = MakeBuffer("T", DType::Float(32), {Int(8)});
  Var i("i");
  Stmt body = MakeStore(kOut, Float(1), {i, i});
  EXPECT_EQ(PlacedAt(t, MakeFor(2, i, Int(8), body)), "none");
}

}  // namespace
}  // namespace kiln
