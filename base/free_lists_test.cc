#include "kiln/base/free_lists.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace kiln {
namespace {

// A piece filled with a byte of its own.
struct Piece {
  unsigned char* memory;
  size_t size;
  unsigned char fill;
};

Piece Make(size_t size, unsigned char fill) {
  Piece piece{static_cast<unsigned char*>(AllocateSmall(size)), size, fill};
  std::memset(piece.memory, fill, size);
  return piece;
}

bool IsWhole(const Piece& piece) {
  for (size_t i = 0; i < piece.size; ++i) {
    if (piece.memory[i] != piece.fill) return false;
  }
  return true;
}

TEST(FreeListsTest, PiecesAreAlignedAndDoNotOverlap) {
  std::mt19937 random(7);
  std::vector<Piece> pieces;
  for (int step = 0; step < 20000; ++step) {
    if (pieces.size() < 600 && random() % 2) {
      pieces.push_back(Make(random() % 700, static_cast<unsigned char>(step)));
      const auto address = reinterpret_cast<uintptr_t>(pieces.back().memory);
      ASSERT_EQ(address % alignof(std::max_align_t), 0u);
    } else if (!pieces.empty()) {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      ASSERT_TRUE(IsWhole(pieces.back())) << "step " << step;
      FreeSmall(pieces.back().memory, pieces.back().size);
      pieces.pop_back();
    }
  }
  for (const Piece& piece : pieces) {
    EXPECT_TRUE(IsWhole(piece));
    FreeSmall(piece.memory, piece.size);
  }
}

TEST(FreeListsTest, MorePiecesThanAreKeptGoBack) {
  std::vector<void*> pieces;
  for (int i = 0; i < 5000; ++i) pieces.push_back(AllocateSmall(48));
  for (void* piece : pieces) FreeSmall(piece, 48);
}

TEST(FreeListsTest, AnotherThreadMayFreeAndEnd) {
  std::vector<Piece> pieces;
  for (int i = 0; i < 100; ++i) pieces.push_back(Make(64, 5));
  std::thread([&] {
    for (const Piece& piece : pieces) {
      EXPECT_TRUE(IsWhole(piece));
      FreeSmall(piece.memory, piece.size);
    }
    for (int i = 0; i < 50; ++i) FreeSmall(AllocateSmall(64), 64);
  }).join();
}

TEST(FreeListsTest, NothingIsFreedAsNothing) {
  FreeSmall(nullptr, 32);
  FreeSmall(nullptr, 100000);
}

}  // namespace
}  // namespace kiln
