// Blobs of every source: copied from unaligned bytes, mapped, empty, parts of
// others; and files that are not there, no files, or shorter than they should
// be.
#include "kiln/base/blob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/base/aligned_memory.h"
#include "kiln/base/file.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/blob_test_" + name;
}

std::string Written(const std::string& name, const std::string& bytes) {
  KILN_EXPECT_OK(WriteFileAtomically(Path(name), bytes));
  return Path(name);
}

std::string Numbers(size_t count) {
  std::string bytes(count, '\0');
  for (size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<char>(i * 7 + i / 256);
  return bytes;
}

bool IsAligned(const Blob& blob) {
  return reinterpret_cast<uintptr_t>(blob.data()) % kMemoryAlignment == 0;
}

TEST(BlobTest, NoBytesAreABlobToo) {
  const std::string empty = Written("empty", "");
  KILN_ASSERT_OK_AND_ASSIGN(const Blob copied, Blob::Copy(""));
  KILN_ASSERT_OK_AND_ASSIGN(const Blob mapped, Blob::Map(empty));
  KILN_ASSERT_OK_AND_ASSIGN(const Blob full, Blob::Copy("abc"));
  KILN_ASSERT_OK_AND_ASSIGN(const Blob part, full.Part(3, 0));
  for (const Blob& blob : {Blob(), copied, mapped, part}) {
    EXPECT_TRUE(blob.is_empty());
    EXPECT_NE(blob.data(), nullptr);
    EXPECT_TRUE(IsAligned(blob));
    EXPECT_EQ(ToHex(blob.digest()), Sha256Hex(""));
    EXPECT_EQ(blob, Blob());
  }
}

TEST(BlobTest, CopiesAreAlignedWhateverTheirSource) {
  const std::string bytes = Numbers(300);
  for (size_t from = 0; from < 70; ++from) {
    const std::string_view source = std::string_view(bytes).substr(from, 130);
    KILN_ASSERT_OK_AND_ASSIGN(const Blob blob, Blob::Copy(source));
    EXPECT_TRUE(IsAligned(blob));
    EXPECT_FALSE(blob.is_mapped());
    EXPECT_EQ(blob.bytes(), source);
  }
}

TEST(BlobTest, ACopyDoesNotChangeWithItsSource) {
  std::string source = "abc";
  KILN_ASSERT_OK_AND_ASSIGN(const Blob blob, Blob::Copy(source));
  source[0] = 'x';
  EXPECT_EQ(blob.bytes(), "abc");
}

TEST(BlobTest, AMappedFileIsKnownByItsContent) {
  const std::string bytes = Numbers(10000);
  KILN_ASSERT_OK_AND_ASSIGN(const Blob mapped,
                            Blob::Map(Written("file", bytes), bytes.size()));
  KILN_ASSERT_OK_AND_ASSIGN(const Blob copied, Blob::Copy(bytes));
  EXPECT_TRUE(mapped.is_mapped());
  EXPECT_TRUE(IsAligned(mapped));
  EXPECT_EQ(mapped.bytes(), bytes);
  EXPECT_EQ(mapped, copied);
  EXPECT_EQ(ToHex(mapped.digest()), Sha256Hex(bytes));
  std::string other = bytes;
  other[9999] ^= 1;
  EXPECT_FALSE(mapped == *Blob::Copy(other));
  EXPECT_FALSE(mapped == *Blob::Copy(bytes.substr(1)));
}

TEST(BlobTest, AFileThatIsReplacedOrRemovedStaysAsItWas) {
  const std::string path = Written("replaced", "old bytes");
  KILN_ASSERT_OK_AND_ASSIGN(const Blob mapped, Blob::Map(path));
  Written("replaced", "new");
  EXPECT_EQ(mapped.bytes(), "old bytes");
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(mapped.bytes(), "old bytes");
}

TEST(BlobTest, PartsShareWhereTheyAreAlignedAndOutliveTheWhole) {
  const std::string bytes = Numbers(500);
  Blob whole = *Blob::Map(Written("whole", bytes));
  const uint8_t* start = whole.data();
  KILN_ASSERT_OK_AND_ASSIGN(const Blob shared, whole.Part(128, 100));
  KILN_ASSERT_OK_AND_ASSIGN(const Blob copied, whole.Part(129, 100));
  KILN_ASSERT_OK_AND_ASSIGN(const Blob nested, shared.Part(64, 36));
  whole = Blob();
  EXPECT_EQ(shared.data(), start + 128);
  EXPECT_TRUE(shared.is_mapped());
  EXPECT_EQ(shared.bytes(), bytes.substr(128, 100));
  EXPECT_FALSE(copied.is_mapped());
  EXPECT_TRUE(IsAligned(copied));
  EXPECT_EQ(copied.bytes(), bytes.substr(129, 100));
  EXPECT_EQ(nested.bytes(), bytes.substr(192, 36));
}

TEST(BlobTest, PartsThatAreNotThereAreRefused) {
  KILN_ASSERT_OK_AND_ASSIGN(const Blob blob, Blob::Copy("abcd"));
  KILN_EXPECT_OK(blob.Part(0, 4).status());
  for (const auto& [offset, size] : std::vector<std::pair<uint64_t, uint64_t>>{
           {0, 5}, {4, 1}, {5, 0}, {1, ~uint64_t{0}}, {~uint64_t{0}, 1}}) {
    EXPECT_THAT(blob.Part(offset, size), StatusIs(absl::StatusCode::kOutOfRange,
                                                  HasSubstr("in a blob of 4")));
  }
}

TEST(BlobTest, FilesThatCannotBeMappedAreRefusedByName) {
  EXPECT_THAT(Blob::Map(Path("absent")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(Path("absent"))));
  EXPECT_THAT(Blob::Map(::testing::TempDir()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no regular file")));
  const std::string pipe = Path("pipe");
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(Blob::Map(pipe), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("no regular file")));
}

TEST(BlobTest, ATruncatedFileIsToldFromAWholeOne) {
  const std::string path = Written("short", Numbers(100));
  KILN_EXPECT_OK(Blob::Map(path, 100).status());
  EXPECT_THAT(Blob::Map(path, 128),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr(path), HasSubstr("100 bytes"),
                             HasSubstr("128"), HasSubstr("cut short"))));
  EXPECT_THAT(Blob::Map(path, 50), StatusIs(absl::StatusCode::kDataLoss,
                                            HasSubstr("should have 50")));
  EXPECT_THAT(Blob::Map(Written("gone", ""), 1),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("cut short")));
}

TEST(BlobTest, ThreadsMayAskForTheDigestAtOnce) {
  const std::string bytes = Numbers(1 << 20);
  KILN_ASSERT_OK_AND_ASSIGN(const Blob blob, Blob::Copy(bytes));
  std::vector<std::thread> threads;
  std::vector<std::string> digests(4);
  for (std::string& digest : digests) {
    threads.emplace_back([&, copy = blob] { digest = ToHex(copy.digest()); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& digest : digests) EXPECT_EQ(digest, Sha256Hex(bytes));
}

}  // namespace
}  // namespace kiln
