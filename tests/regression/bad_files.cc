// A table in the form of calls: each line writes one file that is wrong in one
// way, mostly by a change of one text in a program that is right. To add a
// file, add a row to kBadBodies, or a line such as
//
//   w.Product("rank.py", "A[vi, vk]", "A[vi]");      one index, two dimensions
//   w.Schedule("zero.py", "sch.split(i, [0, 4])");   the last line of it
//
// and its message to the table of bad_input_test.cc.
#include "kiln/tests/regression/bad_files.h"

#include <filesystem>
#include <fstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/check.h"
#include "kiln/search/database/sqlite.h"

namespace kiln::testing {
namespace {

constexpr char kHeader[] = "from tvm.script import tir as T\n";
constexpr char kProduct[] = R"py(
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i, j, k in T.grid(16, 16, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)py";

constexpr char kSymbolic[] = R"py(from tvm.script import tir as T
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi]
)py";

// One column too far, where I holds zeros; what follows lies in the buffer.
constexpr char kRow[] = R"py(from tvm.script import tir as T
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), I: T.Buffer((16,), "int32"), C: T.Buffer((16, 16), "float32")):
    for i, j in T.grid(15, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj + I[vi] + 1]
)py";

// No index is inside of both.
constexpr char kNever[] = R"py(from tvm.script import tir as T
@T.prim_func
def main(A: T.Buffer((16,), "float32"), I: T.Buffer((16,), "int32"), C: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            C[vi] = A[I[vi]] + A[I[vi] + 16]
)py";

constexpr char kSymbolicPair[] = R"py(from tvm.script import tir as T
@T.prim_func
def main(a: T.handle, c: T.handle):
    m = T.int64()
    n = T.int64()
    A = T.match_buffer(a, (m,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = A[vi]
)py";

// Bodies of main(A, B) over 64 float32 each, one for each file.
struct BadBody {
  std::string_view name, body;
};
constexpr BadBody kBadBodies[] = {
    {"lying_region.py", R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi])
            B[vi] = A[63 - vi])"},
    {"past_end.py", R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi + 64])"},
    {"past_buffer.py", R"(
    for i in range(128):
        with T.block("B"):
            vi = T.axis.spatial(128, i)
            B[vi] = A[0])"},
    {"flat_past_end.py", R"(
    for i in range(64):
        if A[i] > T.float32(0):
            B[i] = A[i]
        B[i] = T.if_then_else(i < 63, A[i + 2], T.float32(0)))"},
    {"view_past_end.py", R"(
    V = T.decl_buffer((65,), "float32", data=A.data)
    for i in range(64):
        B[i] = V[i])"},
    {"negative_grid.py", R"(
    for i, j in T.grid(-4, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vj] = A[vj])"},
    {"domain.py", R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(32, i)
            B[vi] = A[vi])"},
    {"axis_twice.py", R"(
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            vi = T.axis.spatial(64, j)
            B[vi] = A[vi])"},
    {"grid_twice.py", R"(
    for i, i in T.grid(64, 64):
        B[i] = A[i])"},
    {"outer_loop.py", R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[i])"},
    {"large_float.py", R"(
    for i in range(64):
        B[i] = A[i] + 1e400)"},
    {"large_float32.py", R"(
    for i in range(64):
        B[i] = A[i] + 1e39)"},
    {"narrow.py", R"(
    C = T.decl_buffer((64,), "int8")
    for i in range(64):
        C[i] = T.Cast("int32", A[i]))"},
    {"no_cast.py", R"(
    C = T.decl_buffer((64,), "int32")
    for i in range(64):
        C[i] = A[i])"},
    {"reads_twice.py", R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            T.reads(A[vi])
            T.reads(A[vi])
            B[vi] = A[vi])"},
    {"init_value.py", R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            with T.init(3):
                B[vi] = T.float32(0)
            B[vi] = A[vi])"},
    {"assigned_loop.py", R"(
    for i in range(64):
        i = i + 1
        B[i] = A[i])"},
    {"assigned_iterator.py", R"(
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            vi = 3
            B[vi] = A[vi])"},
    {"assigned_tensor.py", R"(
    A = T.alloc_buffer((64,), "float32")
    for i in range(64):
        B[i] = A[i])"},
    {"step.py", R"(
    for i in range(0, 64, 2):
        B[i] = A[i])"},
    {"return.py", R"(
    return
    for i in range(64):
        B[i] = A[i])"},
    {"print_inside.py", R"(
    for i in range(64):
        print(i)
        B[i] = A[i])"},
    {"two_tabs.py",
     "\n    for i in range(2):\n        for j in range(32):\n"
     "            B[j] = A[j]\n\tB[i] = A[i]"},
};

class Writer {
 public:
  explicit Writer(std::string folder) : folder_(std::move(folder)) {}

  std::string Path(std::string_view name) const {
    return absl::StrCat(folder_, "/", std::string(name));
  }

  void Write(std::string_view name, std::string_view contents) const {
    std::ofstream file(Path(name), std::ios::binary);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    KILN_CHECK(file.good()) << "cannot write " << Path(name);
  }

  // mm.py with `from` replaced.
  void Product(std::string_view name, const std::string& from,
               const std::string& to) const {
    Write(name,
          absl::StrCat(kHeader, absl::StrReplaceAll(kProduct, {{from, to}})));
  }

  void Body(const BadBody& bad) const {
    Write(bad.name,
          absl::StrCat(kHeader,
                       "@T.prim_func\ndef main(A: T.Buffer((64,), "
                       "\"float32\"), B: T.Buffer((64,), \"float32\")):",
                       std::string(bad.body), "\n"));
  }

  // A schedule whose last line is `line`.
  void Schedule(std::string_view name, std::string_view line) const {
    Write(name,
          absl::StrCat("def f(sch):\n    c = sch.get_block(\"C\", \"main\")\n"
                       "    i, j, k = sch.get_loops(c)\n    ",
                       std::string(line), "\n"));
  }

  // An .npy file of zeros, without its last `cut` bytes.
  void Npy(std::string_view name, const std::string& shape,
           const std::string& dtype, size_t bytes, size_t cut = 0) const {
    std::string header =
        absl::StrCat("{'descr': '", dtype,
                     "', 'fortran_order': False, 'shape': ", shape, ", }");
    header.resize(117, ' ');
    std::string file("\x93NUMPY\x01\0\x76\0", 10);
    absl::StrAppend(&file, header, "\n", std::string(bytes, '\0'));
    file.resize(file.size() - cut);
    Write(name, file);
  }

  void Database(const std::string& name, const std::string& sql) const {
    std::filesystem::create_directories(Path(name));
    auto connection = sqlite::Connection::Open(Path(name + "/database.sqlite"));
    KILN_CHECK(connection.ok()) << connection.status().ToString();
    const absl::Status done = connection->Execute(sql);
    KILN_CHECK(done.ok()) << done.ToString();
  }

 private:
  std::string folder_;
};

std::string Repeated(std::string_view text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

void WriteTwoFunctions(const Writer& w) {
  const std::string f = absl::StrReplaceAll(kProduct, {{"main", "f"}});
  const std::string g = absl::StrReplaceAll(kProduct, {{"main", "g"}});
  w.Write("two.py",
          absl::StrCat("from tvm.script import ir as I\n", kHeader,
                       "@I.ir_module\nclass Module:\n",
                       absl::StrReplaceAll(f + g, {{"\n", "\n    "}}), "\n"));
}

void WritePrograms(const Writer& w) {
  w.Product("mm.py", "", "");
  w.Write("syntax.py", "def main(:\n");
  w.Product("undefined.py", "A[vi, vk]", "Q[vi, vk]");
  w.Product("arity.py", "T.grid(16, 16, 16)", "T.grid(16, 16)");
  w.Product("integer.py", "T.grid(16, 16, 16)",
            "T.grid(16, 16, 99999999999999999999999999)");
  w.Product("overflow.py", "A: T.Buffer((16, 16)",
            "A: T.Buffer((4294967296, 4294967296)");
  w.Product("rank.py", "A[vi, vk]", "A[vi]");
  w.Product("dtype.py", "float32\")", "float33\")");
  w.Write("row.py", kRow);
  w.Write("never.py", kNever);
  w.Write("symbolic_pair.py", kSymbolicPair);
  // Only the data says that this is out of bounds.
  w.Product("far.py", "C[vi, vj] = C",
            "C[vi + 100000000 + T.Cast(\"int64\", A[vi, vk]), vj] = C");
  w.Product("deep.py", "T.float32(0)",
            Repeated("(", 20000) + "1.0" + Repeated(")", 20000));
  w.Product("bytes.py", "float32(0)", "fl\xff(0)");
  w.Product("latin.py", "block(\"C\")", "block(\"C\xe9\")");
  w.Product("and.py", "T.float32(0)",
            "T.if_then_else(" + Repeated("vi < 3 and ", 100000) +
                "True, T.float32(0), T.float32(1))");
  w.Product("negative_mm.py", "T.grid(16, 16, 16)", "T.grid(-16, -16, 16)");
  w.Product("zero_byte.py", "block(\"C\")", std::string("block(\"C\0\")", 11));
  w.Write("utf16.py", std::string_view("\xff\xfe@\0T\0.\0p\0", 10));
  w.Write("empty.py", "");
  w.Write("symbolic.py", kSymbolic);
  w.Write("junk.pb", Repeated(std::string_view("\x80\x01\xff\0\x07", 5), 500));
  w.Write("version.pb", std::string_view("\x08\0\x10\0\x18\x63", 6));
  WriteTwoFunctions(w);
  for (const BadBody& bad : kBadBodies) w.Body(bad);
  w.Write("module_call.py",
          absl::StrCat(kHeader, "@I.ir_module\nclass M:\n    os.system(1)\n"));
}

void WriteSchedules(const Writer& w) {
  w.Schedule("space.py",
             "sch.split(i, sch.sample_perfect_tile(i, n=2, "
             "max_innermost_factor=8))");
  w.Write("copy.py", "def f(sch):\n    c = sch.get_block(\"C\", \"main\")\n");
  w.Schedule("primitive.py", "sch.wibble(i)");
  w.Schedule("keyword.py", "sch.split(i, factors=[2, 8], wibble=3)");
  w.Schedule("stale.py", "a, b = sch.split(i, [4, 4])\n    sch.unroll(i)");
  w.Schedule("variable.py", "sch.unroll(zz)");
  w.Schedule("block.py", "d = sch.get_block(\"D\", \"main\")");
  w.Schedule("reduction.py", "sch.parallel(k)");
  w.Schedule("zero.py", "sch.split(i, [0, 4])");
  w.Schedule("factors.py",
             "sch.split(i, [9223372036854775807, 9223372036854775807])");
  w.Schedule("names.py", "a, b, d = sch.split(i, [4, 4])");
  w.Schedule("for.py", "for q in range(3):\n        sch.unroll(i)");
  w.Schedule("doubled.py", "x = [1]" + Repeated("\n    x = [*x, x]", 100));
  w.Schedule("twice.py", "sch.unroll(loop=i, loop=j)");
  w.Schedule("division.py", "sch.split(i, [4 // 0, None])");
  w.Schedule("negative.py", "sch.fuse(i, j)");
  w.Schedule("merge.py", "sch.merge(i)");
  w.Schedule("parts.py", "sch.loop_partition(i, [12, 12])");
  w.Schedule("ranges.py",
             "sch.annotate_buffer_access(c, 0, \"read\", lambda i: (i, i))");
  w.Schedule("refuses.py", "sch.compute_inline(c)");
  w.Schedule("bind.py", "sch.bind(i, \"threadIdx.x\")");
  w.Schedule("nested.py", "sch.parallel(i)\n    sch.parallel(j)");
  w.Schedule("dropped.py", "i");
  w.Schedule("assigned.py", "sch = 3");
  w.Schedule("returned.py", "return sch\n    sch.unroll(i)");
  w.Schedule("void.py", "x = sch.reorder(j, i)\n    sch.unroll(x)");
  w.Write("values.py", "tile = 8\n");
  w.Write("parameters.py", "def f(sch, tile):\n    pass\n");
  w.Schedule("weights.py",
             "x = sch.sample_categorical([1, 2], [0.5])\n"
             "    sch.split(i, [x, None])");
}

void WriteTensors(const Writer& w) {
  w.Npy("a.npy", "(16, 16)", "<f4", 1024);
  w.Npy("i.npy", "(16,)", "<i4", 64);
  w.Npy("double.npy", "(16, 16)", "<f8", 2048);
  w.Npy("shape.npy", "(8, 16)", "<f4", 512);
  w.Npy("flat.npy", "(256,)", "<f4", 1024);
  w.Npy("cut.npy", "(16, 16)", "<f4", 1024, 100);
  w.Npy("header.npy", "(16, 16)", "<f4", 1024, 1100);
  w.Npy("zero_type.npy", "(16, 16)", std::string("<f4\0", 4), 1024);
  w.Npy("huge.npy", "(1099511627776, 1099511627776)", "<f4", 4);
  w.Npy("object.npy", "(4,)", "|O8", 32);
}

void WriteDatabases(const Writer& w) {
  const std::string fill =
      "CREATE TABLE x (a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
      "i + 1 FROM n WHERE i < 500) INSERT INTO x SELECT hex(zeroblob(50)) FROM "
      "n;";
  const std::string is_kilns = "PRAGMA application_id=1265200238;";
  w.Database("foreign", fill);
  w.Database("schema", fill + is_kilns + "PRAGMA user_version=99;");
  w.Database("corrupt", fill + is_kilns + "PRAGMA user_version=1;");
  std::fstream file(w.Path("corrupt/database.sqlite"),
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(4096, '\xff');
  std::filesystem::create_directories(w.Path("text"));
  w.Write("text/database.sqlite", "These are notes, not a database.");
}

}  // namespace

void WriteBadFiles(const std::string& folder) {
  const Writer w(folder);
  WritePrograms(w);
  WriteSchedules(w);
  WriteTensors(w);
  WriteDatabases(w);
  w.Write("file", "x");
  std::filesystem::create_directories(w.Path("empty_dir"));
}

}  // namespace kiln::testing
