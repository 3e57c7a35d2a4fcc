#include "kiln/ir/tensor/keep.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// for i in range(8): with block: vi = i; b[vi] = a[vi] + 1
Function MakeFunction() {
  const Buffer a = MakeBuffer("a", DType::Float(32), {Int(8)});
  const Buffer b = MakeBuffer("b", DType::Float(32), {Int(8)});
  const Var i("i"), vi("vi");
  BlockFields block;
  block.id = 2;
  block.name = "b";
  block.iters.push_back({vi, {Int(0), Int(8)}, IterType::kSpatial});
  block.reads.push_back({a, PointRegion({vi})});
  block.writes.push_back({b, PointRegion({vi})});
  block.body = MakeStore(b, Add(Load(a, {vi}), Float(1)), {vi});
  Function f;
  f.name = "f";
  f.params = {{Var("a", DType::Handle()), a}, {Var("b", DType::Handle()), b}};
  f.body = MakeRoot(
      3, {},
      MakeFor(1, i, Int(8),
              MakeRealize({i}, Bool(true), MakeBlock(std::move(block)))));
  f.next_id = 4;
  return f;
}

TEST(KeepForeverTest, WhatIsKeptOutlivesItsFunction) {
  const StmtNode* body = nullptr;
  const BufferNode* buffer = nullptr;
  {
    const Function f = MakeFunction();
    KeepForever(f);
    body = f.body.get();
    buffer = f.params[0].buffer.get();
  }
  EXPECT_EQ(body->kind, StmtKind::kBlockRealize);
  EXPECT_EQ(buffer->name, "a");
}

TEST(KeepForeverTest, ManyCopiesAndKeepingTwiceChangeNothing) {
  const Function f = MakeFunction();
  KeepForever(f);
  KeepForever(f);
  std::vector<Function> copies(1000, f);
  copies.clear();
  EXPECT_EQ(f.params[1].buffer->name, "b");
}

TEST(KeepForeverTest, ThreadsBuildOnOneFunction) {
  const Function f = MakeFunction();
  KeepForever(f);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&f] {
      for (int step = 0; step < 2000; ++step) {
        const Var other("other");
        const Stmt changed = Substitute(
            f.body, VarMap{{f.root().body.As<ForNode>()->var.get(), other}});
        EXPECT_NE(changed, f.body);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kiln
