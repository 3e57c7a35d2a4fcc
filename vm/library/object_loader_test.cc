#include "kiln/vm/library/object_loader.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/vm/library/kernel_host.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Code compiled for fixed addresses (-fno-pic) reaches only the lower 2 GiB.
int* LowVariable() {
  static int* const variable =
      static_cast<int*>(mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
  return variable;
}

int Outside(int value) { return value + 100; }

std::string ReadObject(const std::string& flavour) {
  std::ifstream in("vm/library/loader_kernel_" + flavour + ".o",
                   std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_FALSE(bytes.empty()) << flavour;
  return bytes;
}

ObjectLoadOptions Options() {
  ObjectLoadOptions options;
  options.symbols = {
      {"kiln_test_outside", reinterpret_cast<const void*>(&Outside)},
      {"kiln_test_variable", LowVariable()}};
  return options;
}

class ObjectLoaderTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto loaded = LoadedObject::Load(ReadObject(GetParam()), Options());
    KILN_ASSERT_OK(loaded);
    object_ = *std::move(loaded);
  }
  int32_t Call(const std::string& name, void* data,
               std::vector<int64_t> scalars) {
    auto kernel = object_->Kernel(name);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    void* const buffers[] = {data};
    return (*kernel)(host_.abi(), buffers, scalars.data());
  }

  ThreadPool pool_;
  KernelHost host_{&pool_};
  std::shared_ptr<const LoadedObject> object_;
};

TEST_P(ObjectLoaderTest, RunsAParallelKernelWithTablesAndFunctionPointers) {
  std::vector<float> data = {1, 2, 3, 4, 5};
  EXPECT_EQ(Call("loader_kernel", data.data(), {5, 0}), 0);
  EXPECT_THAT(data, ElementsAre(3, 6, 10, 16, 11));
  EXPECT_EQ(Call("loader_kernel", data.data(), {3, 1}), 0);
  EXPECT_THAT(data, ElementsAre(10, 38, 104, 16, 11));
}

TEST_P(ObjectLoaderTest, RefusesKernelsOfAnotherVersion) {
  KILN_EXPECT_OK(object_->Kernel("count_up"));
  KILN_EXPECT_OK(object_->Kernel("loader_kernel"));
  EXPECT_THAT(object_->Kernel("old_kernel"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("kernel 'old_kernel' follows version 1 of the "
                                 "calling convention")));
}

TEST_P(ObjectLoaderTest, KeepsDataOfItsOwnPerLoad) {
  EXPECT_EQ(Call("count_up", nullptr, {}), 43);
  EXPECT_EQ(Call("count_up", nullptr, {}), 46);
  KILN_ASSERT_OK_AND_ASSIGN(void* counter, object_->Symbol("counter"));
  EXPECT_EQ(*static_cast<int*>(counter), 42);
  auto again = LoadedObject::Load(ReadObject(GetParam()), Options());
  KILN_ASSERT_OK(again);
  object_ = *again;
  EXPECT_EQ(Call("count_up", nullptr, {}), 43);
}

TEST_P(ObjectLoaderTest, CallsTheProcessAndGivenSymbols) {
  *LowVariable() = 0;
  char bytes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(Call("call_out", bytes, {4}), 107);
  EXPECT_THAT(bytes, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_EQ(*LowVariable(), 5);
}

TEST_P(ObjectLoaderTest, FollowsJumpTables) {
  int32_t out[4] = {};
  EXPECT_EQ(Call("choose", out, {3}), 81);
  EXPECT_EQ(Call("choose", out, {1}), 19);
  EXPECT_EQ(Call("choose", out, {5}), 42);
  EXPECT_EQ(Call("choose", out, {6}), -1);
  EXPECT_THAT(out, ElementsAre(0, 13, 19, 29));
}

TEST_P(ObjectLoaderTest, ListsSymbolsInItsErrorAndHidesLocalOnes) {
  EXPECT_THAT(object_->Symbol("absent"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("no symbol 'absent'; it has call_out ")));
  EXPECT_FALSE(object_->Symbol("hidden_counter").ok());
}

INSTANTIATE_TEST_SUITE_P(Flags, ObjectLoaderTest,
                         ::testing::Values("pic_o0", "pic_o2", "no_pic"),
                         [](const auto& info) { return info.param; });

TEST(ObjectLoaderErrorTest, NamesUndefinedSymbols) {
  ObjectLoadOptions options;
  EXPECT_THAT(LoadedObject::Load(ReadObject("pic_o2"), options),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("undefined symbol 'kiln_test_")));
  options = Options();
  options.search_process = false;
  EXPECT_THAT(LoadedObject::Load(ReadObject("pic_o2"), options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'memset'")));
}

TEST(ObjectLoaderErrorTest, RefusesWhatIsNoObjectForThisMachine) {
  std::string bytes = ReadObject("pic_o2");
  EXPECT_THAT(LoadedObject::Load("!<arch>\n"),
              StatusIs(kInvalid, HasSubstr("not an object file")));
  EXPECT_THAT(LoadedObject::Load(""), StatusIs(kInvalid, HasSubstr("not an")));
  std::string arm = bytes;
  arm[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_THAT(LoadedObject::Load(arm),
              StatusIs(kInvalid, HasSubstr("x86-64 (machine")));
  std::string shared = bytes;
  shared[offsetof(Elf64_Ehdr, e_type)] = ET_DYN;
  EXPECT_THAT(LoadedObject::Load(shared),
              StatusIs(kInvalid, HasSubstr("type 3")));
}

// The object with an edit to the first section header of a type.
template <typename F>
std::string EditSection(uint32_t type, F edit) {
  std::string bytes = ReadObject("pic_o2");
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (int i = 1; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    char* at = &bytes[header.e_shoff + i * sizeof(section)];
    std::memcpy(&section, at, sizeof(section));
    if (section.sh_type != type) continue;
    edit(section);
    std::memcpy(at, &section, sizeof(section));
    break;
  }
  return bytes;
}

TEST(ObjectLoaderErrorTest, RefusesImpossibleSections) {
  const struct {
    uint32_t type;
    void (*edit)(Elf64_Shdr&);
    const char* message;
  } cases[] = {
      {SHT_PROGBITS, [](Elf64_Shdr& s) { s.sh_size = 1 << 30; }, "outside"},
      {SHT_PROGBITS, [](Elf64_Shdr& s) { s.sh_offset = ~0ull; }, "outside"},
      {SHT_PROGBITS, [](Elf64_Shdr& s) { s.sh_addralign = 48; }, "alignment"},
      {SHT_PROGBITS, [](Elf64_Shdr& s) { s.sh_addralign = 1 << 20; },
       "1048576"},
      {SHT_PROGBITS, [](Elf64_Shdr& s) { s.sh_flags |= SHF_WRITE; },
       "writable and executable"},
      {SHT_NOBITS, [](Elf64_Shdr& s) { s.sh_size = ~0ull; }, "1 GiB"},
      {SHT_NOBITS, [](Elf64_Shdr& s) { s.sh_size = 1u << 31; }, "1 GiB"},
      {SHT_RELA, [](Elf64_Shdr& s) { s.sh_info = 999; }, "no section"},
      {SHT_RELA, [](Elf64_Shdr& s) { s.sh_link = 1; }, "without symbols"},
      {SHT_SYMTAB, [](Elf64_Shdr& s) { s.sh_link = 0; }, "string table"},
      {SHT_SYMTAB, [](Elf64_Shdr& s) { s.sh_size = 48; }, "no symbol"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(
        LoadedObject::Load(EditSection(test.type, test.edit), Options()),
        StatusIs(kInvalid, HasSubstr(test.message)));
  }
}

TEST(ObjectLoaderErrorTest, RefusesReferencesOutOfReach) {
  ObjectLoadOptions options = Options();
  int far_away = 0;
  options.symbols["kiln_test_variable"] = &far_away;
  EXPECT_THAT(
      LoadedObject::Load(ReadObject("no_pic"), options),
      StatusIs(kInvalid, HasSubstr("'kiln_test_variable' is out of reach")));
}

TEST(ObjectLoaderErrorTest, RefusesTheLargeCodeModel) {
  EXPECT_THAT(LoadedObject::Load(ReadObject("large"), Options()),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("compile with -fPIC -mcmodel=small")));
}

TEST(ObjectLoaderErrorTest, RefusesEveryTruncation) {
  const std::string good = ReadObject("pic_o2");
  for (size_t size = 0; size < good.size(); size += 3) {
    EXPECT_FALSE(LoadedObject::Load(good.substr(0, size), Options()).ok());
  }
}

TEST(ObjectLoaderErrorTest, NeverCrashesOnDamagedObjects) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const char* flavour : {"pic_o2", "no_pic"}) {
    const std::string good = ReadObject(flavour);
    int loaded = 0;
    for (int i = 0; i < 4000; ++i) {
      std::string bytes = good;
      // Headers and tables lie at the end, so half of the damage goes there.
      const size_t start = random() % 2 ? bytes.size() * 2 / 3 : 0;
      for (int flips = 1 + random() % 8; flips > 0; --flips) {
        bytes[start + random() % (bytes.size() - start)] ^= 1 << random() % 8;
      }
      loaded += LoadedObject::Load(bytes, Options()).ok();
    }
    EXPECT_GT(loaded, 0);
  }
}

}  // namespace
}  // namespace kiln
