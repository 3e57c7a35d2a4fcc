#include "kiln/codegen/link/shared_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr char kCubeRoots[] = R"py(
@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in T.parallel(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = T.call_pure_extern("float32", "cbrtf", A[vi])
)py";

std::string Path(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

// Writes NAME.o, and gives what it is called with.
absl::StatusOr<KernelSignature> Compile(const std::string& name) {
  KILN_ASSIGN_OR_RETURN(const Function f, ParseFunction("f", kCubeRoots));
  KILN_ASSIGN_OR_RETURN(const CompiledKernel kernel,
                        CompileKernel(f, HostTarget()));
  KILN_RETURN_IF_ERROR(WriteFileAtomically(Path(name), kernel.object));
  return kernel.signature;
}

TEST(SharedObjectTest, RunsFromTheFile) {
  KILN_ASSERT_OK_AND_ASSIGN(const KernelSignature signature, Compile("run.o"));
  KILN_ASSERT_OK(LinkSharedObject({Path("run.o")}, Path("run.so")));
  KILN_ASSERT_OK_AND_ASSIGN(const auto library,
                            LoadedObject::Open(Path("run.so")));
  KILN_ASSERT_OK_AND_ASSIGN(const KilnKernel entry, library->Kernel("kiln_f"));
  KILN_ASSERT_OK_AND_ASSIGN(const LoadedKernel kernel,
                            LoadedKernel::Create(signature, entry, library));
  ThreadPool pool;
  KernelHost host(&pool);
  KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::Empty({100}, DType::Float(32)));
  for (float& value : a.elements<float>()) value = 27;
  KILN_ASSERT_OK_AND_ASSIGN(NDArray b, NDArray::Zeros({100}, DType::Float(32)));
  KILN_ASSERT_OK(kernel.Call(host.abi(), {a, b}));
  EXPECT_THAT(b.elements<float>(), Each(3.0f));
}

TEST(SharedObjectTest, ManyThreadsLinkOneAfterTheOther) {
  KILN_ASSERT_OK(Compile("many.o").status());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      const std::string output = Path("many" + std::to_string(i) + ".so");
      KILN_EXPECT_OK(LinkSharedObject({Path("many.o")}, output));
      KILN_EXPECT_OK(LoadedObject::Open(output));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedObjectTest, RefusesWhatItCannotLinkOrOpen) {
  EXPECT_THAT(LinkSharedObject({Path("missing.o")}, Path("out.so")).message(),
              HasSubstr("missing.o"));
  KILN_ASSERT_OK(WriteFileAtomically(Path("text.o"), "no object at all"));
  EXPECT_FALSE(LinkSharedObject({Path("text.o")}, Path("out.so")).ok());
  KILN_ASSERT_OK(Compile("good.o").status());
  EXPECT_THAT(
      LinkSharedObject({Path("good.o")}, Path("no/folder/out.so")).message(),
      HasSubstr("no/folder/out.so"));
  EXPECT_THAT(LinkSharedObject({Path("good.o"), Path("good.o")}, Path("out.so"))
                  .message(),
              HasSubstr("duplicate symbol"));
  EXPECT_THAT(LoadedObject::Open(Path("missing.so")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("missing.so")));
  // It still works after all that.
  KILN_ASSERT_OK(LinkSharedObject({Path("good.o")}, Path("good.so")));
  KILN_ASSERT_OK_AND_ASSIGN(const auto library,
                            LoadedObject::Open(Path("good.so")));
  EXPECT_THAT(library->Kernel("kiln_g"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("kiln_g")));
}

}  // namespace
}  // namespace kiln
