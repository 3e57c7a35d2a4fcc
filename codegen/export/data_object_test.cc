#include "kiln/codegen/export/data_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/link/shared_object.h"
#include "kiln/vm/library/elf_image.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

DataObject Example(uint16_t machine, std::string_view head,
                   std::string_view body) {
  DataObject object;
  object.machine = machine;
  object.sections = {{".head", 64, {head}},
                     {".body", 4096, {body, "tail"}, /*is_large=*/true}};
  object.symbols = {{"head", 0}, {"second_name", 0}};
  object.distances = {{8, "other"}};
  return object;
}

constexpr std::string_view kHead("01234567\0\0\0\0\0\0\0\0", 16);

TEST(DataObjectTest, DistancesLeadFromObjectToObject) {
  const std::string body(10000, 'b');
  KILN_ASSERT_OK(WriteDataObject(Example(EM_X86_64, kHead, body), Path("a.o")));
  DataObject other;
  other.machine = EM_X86_64;
  other.sections = {{".other", 64, {"something", "else"}}};
  other.symbols = {{"other", 0}};
  KILN_ASSERT_OK(WriteDataObject(other, Path("b.o")));
  KILN_ASSERT_OK(LinkSharedObject({Path("a.o"), Path("b.o")}, Path("a.so"),
                                  {"-Bsymbolic"}));
  void* library = dlopen(Path("a.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto* head = static_cast<const char*>(dlsym(library, "head"));
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(dlsym(library, "second_name"), head);
  EXPECT_EQ(std::string_view(head, 8), "01234567");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(head) % 64, 0);
  int64_t distance;
  std::memcpy(&distance, head + 8, sizeof(distance));
  EXPECT_EQ(head + distance, dlsym(library, "other"));
  EXPECT_EQ(std::string_view(head + distance, 13), "somethingelse");
  dlclose(library);
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(Path("a.so")));
  KILN_ASSERT_OK_AND_ASSIGN(const ElfPart part, FindElfSection(bytes, ".body"));
  EXPECT_EQ(part.offset % 4096, 0);
  EXPECT_EQ(bytes.substr(part.offset, part.size), body + "tail");
}

TEST(DataObjectTest, OtherMachinesLinkAsWell) {
  DataObject object = Example(EM_AARCH64, kHead, "body");
  object.distances.clear();
  KILN_ASSERT_OK(WriteDataObject(object, Path("arm.o")));
  KILN_ASSERT_OK(LinkSharedObject({Path("arm.o")}, Path("arm.so")));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(Path("arm.so")));
  KILN_ASSERT_OK_AND_ASSIGN(const uint16_t machine, ElfMachine(bytes));
  EXPECT_EQ(machine, EM_AARCH64);
  KILN_ASSERT_OK_AND_ASSIGN(const ElfPart part, FindElfSection(bytes, ".body"));
  EXPECT_EQ(bytes.substr(part.offset, part.size), "bodytail");
  EXPECT_THAT(CheckSharedObject(bytes),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("compile it for this one")));
}

TEST(DataObjectTest, NoSymbolIsMadeUp) {
  DataObject object = Example(EM_X86_64, kHead, "body");
  object.distances = {{8, "kiln_missing"}};
  KILN_ASSERT_OK(WriteDataObject(object, Path("missing.o")));
  EXPECT_THAT(
      LinkSharedObject({Path("missing.o")}, Path("missing.so")).message(),
      HasSubstr("kiln_missing"));
}

TEST(DataObjectTest, RefusesWhatItCannotWrite) {
  EXPECT_THAT(WriteDataObject(Example(EM_RISCV, kHead, ""), Path("r.o")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("243")));
  EXPECT_THAT(
      WriteDataObject(Example(EM_X86_64, kHead, ""), Path("no/folder.o")),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/folder.o")));
}

TEST(ElfImageTest, EveryCutIsToldAndNoByteIsFatal) {
  DataObject object = Example(EM_X86_64, kHead, "body");
  object.distances.clear();
  KILN_ASSERT_OK(WriteDataObject(object, Path("cut.o")));
  KILN_ASSERT_OK(LinkSharedObject({Path("cut.o")}, Path("cut.so")));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(Path("cut.so")));
  KILN_EXPECT_OK(CheckSharedObject(bytes));
  KILN_ASSERT_OK_AND_ASSIGN(const ElfPart body, FindElfSection(bytes, ".body"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    (void)FindElfSection(cut, ".body");
    if (size < body.offset + body.size) {
      EXPECT_FALSE(CheckSharedObject(cut).ok()) << size;
    }
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    (void)CheckSharedObject(damaged);
    (void)FindElfSection(damaged, ".body");
  }
}

TEST(ElfImageTest, OtherFilesAreNamed) {
  EXPECT_THAT(CheckSharedObject("text").message(), HasSubstr("no ELF file"));
  EXPECT_THAT(CheckSharedObject("").message(), HasSubstr("no ELF file"));
  KILN_ASSERT_OK(
      WriteDataObject(Example(EM_X86_64, kHead, "body"), Path("obj.o")));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(Path("obj.o")));
  EXPECT_THAT(CheckSharedObject(bytes).message(),
              HasSubstr("no shared object"));
}

}  // namespace
}  // namespace kiln
