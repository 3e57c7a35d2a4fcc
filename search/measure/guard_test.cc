#include "kiln/search/measure/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(GuardTest, BuffersAreAlignedAndEndNextToAGuardPage) {
  for (uint64_t bytes : {0, 1, 63, 64, 100, 4096, 4097, 123456}) {
    auto buffer = GuardedBuffer::Writable("B", bytes);
    ASSERT_TRUE(buffer.has_value());
    char* data = static_cast<char*>(buffer->data());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kGuardAlignment, 0u);
    std::memset(data, 1, bytes);
    EXPECT_FALSE(buffer->CheckSlack().has_value());
    const uint64_t rounded =
        (bytes + kGuardAlignment - 1) / kGuardAlignment * kGuardAlignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data + rounded) % 4096, 0u);
    EXPECT_DEATH(*static_cast<volatile char*>(data + rounded) = 1, "");
  }
}

TEST(GuardTest, WritesToTheSlackAreSeen) {
  auto buffer = GuardedBuffer::Writable("B", 100);
  char* data = static_cast<char*>(buffer->data());
  const char after = data[100];
  data[100] = 1;
  EXPECT_THAT(buffer->CheckSlack().value_or(""),
              HasSubstr("buffer B (100 bytes) after its end"));
  data[100] = after;
  data[-1] = 1;
  EXPECT_THAT(buffer->CheckSlack().value_or(""), HasSubstr("before its start"));
}

TEST(GuardTest, ReadOnlyViewsShowTheFileAndCannotBeWritten) {
  const int fd = memfd_create("guard_test", 0);
  std::string page(GuardedSpan(10), '\0');
  page.replace(GuardedStart(10), 10, "0123456789");
  ASSERT_EQ(write(fd, page.data(), page.size()),
            static_cast<ssize_t>(page.size()));
  auto buffer = GuardedBuffer::ReadOnly("A", fd, 0, 10);
  close(fd);
  ASSERT_TRUE(buffer.has_value());
  char* data = static_cast<char*>(buffer->data());
  EXPECT_EQ(std::string(data, 10), "0123456789");
  EXPECT_DEATH(*static_cast<volatile char*>(data) = 1, "");
}

TEST(GuardTest, ZonesAreFoundWhileTheirBuffersLive) {
  const void* inside = nullptr;
  {
    auto buffer =
        GuardedBuffer::Writable("a name that is far too long for it", 10);
    inside = buffer->data();
    GuardedBuffer moved = *std::move(buffer);
    const GuardZone* zone = FindZone(inside);
    ASSERT_NE(zone, nullptr);
    EXPECT_STREQ(zone->name, "a name that is far too long for");
    EXPECT_EQ(FindZone(zone->begin - 1), nullptr);
    EXPECT_EQ(FindZone(zone->end), nullptr);
    EXPECT_EQ(FindZone(zone->begin), zone);
  }
  EXPECT_EQ(FindZone(inside), nullptr);
}

TEST(GuardTest, MoreBuffersThanZonesStillWork) {
  std::vector<GuardedBuffer> buffers;
  for (int i = 0; i < 1100; ++i) {
    buffers.push_back(*GuardedBuffer::Writable("B", 1));
  }
  static_cast<char*>(buffers.back().data())[1] = 1;
  EXPECT_TRUE(buffers.back().CheckSlack().has_value());
}

TEST(GuardTest, AbsurdSizesAreRefused) {
  EXPECT_FALSE(GuardedBuffer::Writable("B", ~uint64_t{0}).has_value());
  EXPECT_FALSE(GuardedBuffer::Writable("B", uint64_t{1} << 63).has_value());
}

}  // namespace
}  // namespace kiln
