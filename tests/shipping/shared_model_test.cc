// Models in shared objects: written by codegen/export, opened by vm/machine.
// What a process has of a file stands in /proc/self/smaps:
//
//   7f..-7f.. r--p ... /tmp/big.so
//   Rss: 8192 kB   Shared_Clean: 8192 kB   Private_Dirty: 0 kB
#include "kiln/codegen/export/shared_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/tests/shipping/model.h"
#include "kiln/vm/executable/file.h"
#include "kiln/vm/executable/shared_model.h"
#include "kiln/vm/executable/testing.h"
#include "kiln/vm/library/elf_image.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/machine.h"

namespace kiln {
namespace {

using testing::BigConstant;
using testing::Expected;
using ::testing::HasSubstr;
using testing::SmallModel;
using testing::TestPath;
using testing::Weights;
using Loaded = std::shared_ptr<const vm::LoadedExecutable>;

absl::StatusOr<NDArray> Rows(int64_t count) {
  KILN_ASSIGN_OR_RETURN(NDArray x,
                        NDArray::Empty({count, 8}, DType::Float(32)));
  const std::vector<float> values = Weights(count * 8);
  std::copy(values.begin(), values.end(), x.data_as<float>());
  return x;
}

absl::StatusOr<vm::Value> CallMain(const Loaded& loaded,
                                   const std::vector<vm::Value>& args) {
  ThreadPool pool;
  const KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(auto machine, vm::Machine::Create(loaded, {}, &host));
  return machine->Call("main", args);
}

void ExpectRightResult(const Loaded& loaded) {
  for (int64_t rows : {0, 1, 3, 100}) {
    KILN_ASSERT_OK_AND_ASSIGN(const NDArray x, Rows(rows));
    KILN_ASSERT_OK_AND_ASSIGN(const vm::Value y, CallMain(loaded, {x}));
    const auto got = std::get<NDArray>(y).elements<float>();
    EXPECT_EQ(std::vector<float>(got.begin(), got.end()),
              Expected(Weights(rows * 8)));
  }
}

std::string Written(const vm::Executable& executable, const std::string& name) {
  const std::string path = TestPath(name);
  KILN_EXPECT_OK(WriteSharedModel(executable, path));
  return path;
}

TEST(SharedModelTest, WhatIsWrittenIsOpened) {
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Executable built, SmallModel());
  const std::string path = Written(built, "small.so");
  KILN_ASSERT_OK_AND_ASSIGN(const vm::SharedModel opened,
                            vm::OpenSharedModel(path));
  EXPECT_EQ(vm::ToString(opened.executable), vm::ToString(built));
  EXPECT_EQ(opened.executable.constants, built.constants);
  EXPECT_EQ(opened.executable.cpu_features, built.cpu_features);
  EXPECT_EQ(opened.entries.size(), built.kernels.size());
  KILN_ASSERT_OK_AND_ASSIGN(const Loaded loaded,
                            vm::LoadedExecutable::Open(path));
  ExpectRightResult(loaded);
}

TEST(SharedModelTest, NothingStaysBesideIt) {
  const std::string folder = TestPath("alone");
  KILN_ASSERT_OK(MakeFolders(folder));
  Written(vm::SmallExecutable(), "alone/model.so");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  EXPECT_EQ(names, std::set<std::string>{"model.so"});
}

TEST(SharedModelTest, AFileOfObjectsIsTheSame) {
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Executable built, SmallModel());
  const std::string path = TestPath("small.kiln");
  KILN_ASSERT_OK(vm::WriteExecutable(built, path));
  KILN_ASSERT_OK_AND_ASSIGN(const Loaded loaded,
                            vm::LoadedExecutable::Open(path));
  ExpectRightResult(loaded);
}

TEST(SharedModelTest, AModelWithoutKernelsOrWeightsIsOne) {
  vm::Executable executable = vm::SmallExecutable();
  KILN_EXPECT_OK(vm::OpenSharedModel(Written(executable, "plain.so")));
  executable = {};
  KILN_EXPECT_OK(vm::OpenSharedModel(Written(executable, "empty.so")));
}

TEST(SharedModelTest, AReplacedFileIsOpenedAnew) {
  const std::string path = Written(BigConstant(10), "replaced.so");
  KILN_ASSERT_OK_AND_ASSIGN(const Loaded first,
                            vm::LoadedExecutable::Open(path));
  Written(BigConstant(20), "replaced.so");
  KILN_ASSERT_OK_AND_ASSIGN(const Loaded second,
                            vm::LoadedExecutable::Open(path));
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Value ten, CallMain(first, {}));
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Value twenty, CallMain(second, {}));
  EXPECT_EQ(std::get<NDArray>(ten).num_elements(), 10);
  EXPECT_EQ(std::get<NDArray>(twenty).num_elements(), 20);
}

TEST(SharedModelTest, AResultKeepsWhatItLiesIn) {
  vm::Value value;
  {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Loaded loaded,
        vm::LoadedExecutable::Open(Written(BigConstant(5000), "kept.so")));
    KILN_ASSERT_OK_AND_ASSIGN(value, CallMain(loaded, {}));
  }
  EXPECT_EQ(std::get<NDArray>(value).data_as<float>()[4999], 4999);
}

auto Refused(const std::string& reason) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason));
}

TEST(SharedModelTest, WhatIsNoModelSaysSo) {
  EXPECT_THAT(vm::OpenSharedModel(TestPath("nowhere.so")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere.so")));
  KILN_ASSERT_OK(WriteFileAtomically(TestPath("text.so"), "no object"));
  EXPECT_THAT(vm::OpenSharedModel(TestPath("text.so")),
              Refused("text.so is no ELF file"));
  EXPECT_THAT(vm::LoadedExecutable::Open(TestPath("text.so")),
              Refused("text.so is no executable of Kiln"));
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Executable built, SmallModel());
  KILN_ASSERT_OK(WriteFileAtomically(TestPath("kernel.o"),
                                     built.kernels[0].object.bytes()));
  EXPECT_THAT(vm::OpenSharedModel(TestPath("kernel.o")),
              Refused("is no shared object"));
}

TEST(SharedModelTest, EveryCutIsRefused) {
  const std::string path = Written(BigConstant(100), "whole.so");
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  KILN_ASSERT_OK_AND_ASSIGN(const ElfPart model,
                            FindElfSection(bytes, vm::kSharedModelSection));
  for (size_t size = 0; size < model.offset + model.size; size += 37) {
    KILN_ASSERT_OK(
        WriteFileAtomically(TestPath("cut.so"), bytes.substr(0, size)));
    EXPECT_FALSE(vm::OpenSharedModel(TestPath("cut.so")).ok()) << size;
  }
}

// Every byte of header, places and message.
TEST(SharedModelTest, DamageOfTheModelIsRefused) {
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Executable built, SmallModel());
  const std::string path = Written(built, "good.so");
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  KILN_ASSERT_OK_AND_ASSIGN(const ElfPart model,
                            FindElfSection(bytes, vm::kSharedModelSection));
  for (size_t i = 0; i < model.size; i += i < 200 ? 1 : 29) {
    std::string damaged = bytes;
    char& byte = damaged[model.offset + i];
    byte = static_cast<char>(byte ^ (1 << (i % 8)));
    KILN_ASSERT_OK(WriteFileAtomically(TestPath("bad.so"), damaged));
    EXPECT_FALSE(vm::OpenSharedModel(TestPath("bad.so")).ok()) << i;
  }
}

TEST(SharedModelTest, TwoKernelsOfOneNameAreRefused) {
  KILN_ASSERT_OK_AND_ASSIGN(vm::Executable built, SmallModel());
  built.kernels.push_back(built.kernels[0]);
  EXPECT_THAT(WriteSharedModel(built, TestPath("two.so")),
              Refused("two kernels are called " + built.kernels[0].symbol));
}

TEST(SharedModelTest, AProcessorThatLacksInstructionsIsTold) {
  KILN_ASSERT_OK_AND_ASSIGN(vm::Executable built, SmallModel());
  built.cpu_features.push_back("avx9000");
  for (const char* name : {"other.so", "other.kiln"}) {
    const std::string path = TestPath(name);
    KILN_ASSERT_OK(name == std::string("other.so")
                       ? WriteSharedModel(built, path)
                       : vm::WriteExecutable(built, path));
    EXPECT_THAT(vm::LoadedExecutable::Open(path),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr(path + " was compiled for another "
                                          "processor")));
    EXPECT_THAT(vm::LoadedExecutable::Open(path).status().message(),
                HasSubstr("lacks avx9000;"));
  }
}

TEST(SharedModelTest, AnotherArchitectureIsLinkedAndRefusedHere) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const vm::Executable built,
      SmallModel("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"));
  EXPECT_THAT(vm::OpenSharedModel(Written(built, "arm.so")),
              Refused("arm.so is for processors of kind 183"));
}

// The lines of /proc/self/smaps about the mapping that `address` lies in, by
// their names, in kB.
std::map<std::string, int64_t> MemoryAt(const void* address) {
  std::ifstream smaps("/proc/self/smaps");
  std::map<std::string, int64_t> found;
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool is_here = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long begin = 0, end = 0;
    char name[64] = {};
    long value = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      is_here = begin <= wanted && wanted < end;
    } else if (is_here &&
               std::sscanf(line.c_str(), "%63[^:]: %ld", name, &value) == 2) {
      found[name] = value;
    }
  }
  return found;
}

double SumOf(const NDArray& array) {
  double sum = 0;
  for (float value : array.elements<float>()) sum += value;
  return sum;
}

// Opens the model, reads all weights, says so, and waits for the end of its
// input.
[[noreturn]] void ReadWeights(const std::string& path, int ready, int end) {
  const auto loaded = vm::LoadedExecutable::Open(path);
  const absl::StatusOr<vm::Value> value =
      loaded.ok() ? CallMain(*loaded, {}) : loaded.status();
  char byte = value.ok() && SumOf(std::get<NDArray>(*value)) > 0 ? 'y' : 'n';
  (void)!write(ready, &byte, 1);
  (void)!read(end, &byte, 1);
  _exit(0);
}

TEST(SharedModelTest, TwoProcessesHaveTheWeightsOnce) {
  constexpr int64_t kFloats = 2 << 20;
  for (const char* name : {"big.so", "big.kiln"}) {
    const std::string path = TestPath(name);
    KILN_ASSERT_OK(name == std::string("big.so")
                       ? WriteSharedModel(BigConstant(kFloats), path)
                       : vm::WriteExecutable(BigConstant(kFloats), path));
    int ready[2], end[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(end), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(end[1]);
      ReadWeights(path, ready[1], end[0]);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    KILN_ASSERT_OK_AND_ASSIGN(const Loaded loaded,
                              vm::LoadedExecutable::Open(path));
    KILN_ASSERT_OK_AND_ASSIGN(const vm::Value value, CallMain(loaded, {}));
    const NDArray& weights = std::get<NDArray>(value);
    EXPECT_GT(SumOf(weights), 0);
    const auto memory = MemoryAt(weights.data_as<char>() + weights.bytes() / 2);
    const int64_t kib = kFloats * sizeof(float) / 1024;
    // Pages of a file system in memory are never clean.
    EXPECT_GE(memory.at("Shared_Clean") + memory.at("Shared_Dirty"), kib)
        << path;
    EXPECT_EQ(memory.at("Private_Dirty"), 0) << path;
    EXPECT_EQ(memory.at("Anonymous"), 0) << path;
    close(end[1]);
    waitpid(child, nullptr, 0);
    for (int fd : {ready[0], ready[1], end[0]}) close(fd);
  }
}

}  // namespace
}  // namespace kiln
