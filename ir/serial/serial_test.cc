#include "kiln/ir/serial/serial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Module ModuleOf(uint64_t seed) {
  Module m;
  m.functions.push_back(RandomProgram(seed));
  return m;
}

TEST(SerialTest, RandomProgramsComeBackEqualAndGiveTheSameBytesAgain) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Module m = ModuleOf(seed);
    const std::string bytes = SerializeModule(m);
    absl::StatusOr<Module> back = ParseModuleBytes(bytes);
    ASSERT_TRUE(back.ok()) << "seed " << seed << ": " << back.status();
    ASSERT_EQ(CanonicalForm(m, {.block_names = true}),
              CanonicalForm(*back, {.block_names = true}))
        << "seed " << seed;
    ASSERT_EQ(SerializeModule(*back), bytes) << "seed " << seed;
    EXPECT_EQ(back->functions[0].next_id, m.functions[0].next_id);
  }
}

constexpr char kGraph[] = R"(
@R.function(private=True)
def graph(x: R.Tensor(("n", 4), "float32"), k: R.Prim("int64"), s: R.Shape(ndim=2), f: R.Callable((R.Object,), R.Tuple(R.Tensor, R.Shape([2, 3])), False)) -> R.Tensor(ndim=2):
    R.func_attr({"Primitive": True, "list": [1, 2.5, "three", None]})
    n = T.int64()
    m = T.int64()
    with R.dataflow():
        a = R.call_tir(cls.graph, (x, R.const([[1, 2], [3, 4]], "int64")), out_sinfo=[R.Tensor((n, 4), "float32"), R.Tensor((n * 2,), "bfloat16")])
        b = a[0]
        c = R.match_cast(b, R.Tensor((m, 4), "float32"))
        d = R.nn.softmax(c, axis=-1)
        R.output(d)
    if R.const(True, "bool"):
        e: R.Object = R.call_packed("mine", d, R.str("s"), R.dtype("int8"), R.shape([n, m + 1]), R.prim_value(k), sinfo_args=(R.Object,))
    else:
        e = R.mine.op(d, metadata["relax.expr.Constant"][3], axis=2)
    @R.function
    def inner(y: R.Tensor(s)) -> R.Tensor(s):
        return y
    return inner(d)
)";

graph::GraphFunction SomeGraphFunction() {
  return ParseModule("g.py", kGraph)->graph_functions[0];
}

TEST(SerialTest, GraphFunctionsSurvive) {
  KILN_ASSERT_OK_AND_ASSIGN(Module m, ParseModule("g.py", kGraph));
  const std::string bytes = SerializeModule(m);
  KILN_ASSERT_OK_AND_ASSIGN(Module back, ParseModuleBytes(bytes));
  EXPECT_EQ(CanonicalForm(m), CanonicalForm(back));
  EXPECT_EQ(PrintModule(m), PrintModule(back));
  EXPECT_EQ(SerializeModule(back), bytes);
}

TEST(SerialTest, GraphFunctionsOfVersionOneAreReadFromTheirText) {
  proto::Module message;
  message.set_schema_version(1);
  message.set_name("M");
  message.set_graph_function_count(1);
  message.add_graph_functions()->set_name("f");
  message.mutable_graph_functions(0)->set_source(
      "@R.function\ndef f(x: R.Tensor((2,), \"float32\")):\n"
      "    y = M.f(x)\n    return y\n");
  KILN_ASSERT_OK_AND_ASSIGN(Module m, ModuleFromProto(message));
  EXPECT_EQ(m.graph_functions[0]->name, "f");
  message.mutable_graph_functions(0)->set_source("x = 1");
  EXPECT_THAT(ModuleFromProto(message),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("one graph function of this name")));
}

// Every field of every graph node, changed one by one, is refused or gives a
// module that can be printed and written again.
TEST(SerialTest, BrokenGraphNodesAreRefusedOrHarmless) {
  KILN_ASSERT_OK_AND_ASSIGN(Module m, ParseModule("g.py", kGraph));
  const proto::Module good = ModuleToProto(m);
  const int count = good.graph_functions(0).graph_nodes_size();
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    for (int change = 0; change < 8; ++change) {
      proto::Module bad = good;
      proto::GraphNode& node =
          *bad.mutable_graph_functions(0)->mutable_graph_nodes(i);
      if (change == 0) node.set_kind("TupleInfo");
      if (change == 1) node.set_kind("Seq");
      if (change == 2) node.add_parts(1);
      if (change == 3) node.clear_parts();
      if (change == 4) node.set_info(i + 1);
      if (change == 5) node.add_scalars(1000);
      if (change == 6) node.set_name("a b");
      if (change == 7) node.set_dtype("float3");
      const absl::StatusOr<Module> read = ModuleFromProto(bad);
      refused += !read.ok();
      if (!read.ok()) continue;
      PrintModule(*read);
      EXPECT_FALSE(SerializeModule(*read).empty());
    }
  }
  EXPECT_GT(refused, count);
}

TEST(SerialTest, AttributesMatchesSymbolsAndGraphFunctionsSurvive) {
  KILN_ASSERT_OK_AND_ASSIGN(Module m, ParseModule("m.py", R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    n = T.int64()
    A = T.match_buffer(a, (n, 16), "float32")
    B = T.match_buffer(b, (n, 16), "float32")
    for i in T.thread_binding(n, thread="blockIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            T.where(i < 100)
            T.reads(A[vi, 0:16])
            T.writes(B[vi, 0:16])
            T.block_attr({"deep": [1, "two", [3.0, None]]})
            s0 = T.int64()
            V = T.match_buffer(A[vi, 0:16], (16,), "float32", strides=[s0], offset_factor=1)
            for j in T.serial(16, annotations={"pragma": 1}):
                B[vi, j] = V[j]
)"));
  m.name = "Mine";
  m.attrs["target"] = Attr(std::string("llvm"));
  m.graph_functions.push_back(SomeGraphFunction());
  KILN_ASSERT_OK_AND_ASSIGN(Module back, ParseModuleBytes(SerializeModule(m)));
  EXPECT_EQ(CanonicalForm(m), CanonicalForm(back));
  EXPECT_EQ(back.name, "Mine");
  EXPECT_EQ(*back.attrs.at("target").string(), "llvm");
  EXPECT_EQ(back.graph_functions[0]->name, "graph");
  EXPECT_EQ(SymbolicDims(back.functions[0])[0].name(), "n");
}

TEST(SerialTest, LoweredFunctionsAndVectorsSurvive) {
  const DType f32 = DType::Float(32);
  Buffer a = MakeBuffer("A", f32, {Int(8)}), t = MakeBuffer("T", f32, {Int(8)});
  Var x("x", f32), y("y", f32);
  Expr sum = Let(y, Mul(x, x), Add(y, Float(-0.0)));
  Expr vector = Select(LT(Ramp(Int(0), Int(1), 4), Int(2)), Broadcast(sum, 4),
                       Load(a, {Ramp(Int(4), Int(1), 4)}));
  Stmt store = MakeStore(t, vector, {Ramp(Int(0), Int(1), 4)});
  Stmt body = MakeLet(x, Load(a, {Int(0)}), MakeSeq({store, store}));
  Module m;
  m.functions.emplace_back();
  m.functions[0].name = "low";
  m.functions[0].params = {{Var("a", DType::Handle()), a}};
  m.functions[0].body = MakeAllocate(
      t, MakeIf(Bool(true), body, MakeEvaluate(Int(0, DType::Int(32)))));
  KILN_ASSERT_OK_AND_ASSIGN(Module back, ParseModuleBytes(SerializeModule(m)));
  EXPECT_EQ(CanonicalForm(m), CanonicalForm(back));
}

TEST(SerialTest, SharedNodesAreWrittenOnce) {
  Buffer a = MakeBuffer("A", DType::Float(32), {Int(8)});
  Expr e = Load(a, {Int(0)});
  for (int i = 0; i < 20; ++i) e = Add(e, e);
  Module m;
  m.functions.emplace_back();
  m.functions[0].name = "main";
  m.functions[0].params = {{Var("a", DType::Handle()), a}};
  m.functions[0].body =
      MakeRoot(m.functions[0].NewId(), {}, MakeStore(a, e, {Int(0)}));
  EXPECT_LT(SerializeModule(m).size(), 2000);
  KILN_EXPECT_OK(ParseModuleBytes(SerializeModule(m)).status());
}

TEST(SerialTest, BytesThatExplodeWhenExpandedAreRefused) {
  proto::Module message = ModuleToProto(ModuleOf(1));
  proto::Function& f = *message.mutable_functions(0);
  f.clear_nodes();
  for (int i = 0; i < 100; ++i) {
    proto::Expr* e = f.add_nodes()->mutable_expr();
    e->set_dtype("int64");
    e->set_kind(i ? "Add" : "IntImm");
    if (i) e->add_operands(i), e->add_operands(i);
  }
  f.set_node_count(100);
  EXPECT_THAT(ModuleFromProto(message).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("expands to more than")));
}

TEST(SerialTest, DeepNestingIsRefused) {
  proto::Module message = ModuleToProto(ModuleOf(1));
  proto::Function& f = *message.mutable_functions(0);
  f.clear_nodes();
  for (int i = 0; i < 5000; ++i) {
    proto::Expr* e = f.add_nodes()->mutable_expr();
    e->set_dtype("bool");
    e->set_kind(i ? "Not" : "IntImm");
    if (i) e->add_operands(i);
  }
  f.set_node_count(5000);
  EXPECT_THAT(
      ModuleFromProto(message).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nests deeper")));
}

TEST(SerialTest, EachFaultIsNamed) {
  const struct {
    std::function<void(proto::Module&)> spoil;
    const char* message;
  } kCases[] = {
      {[](proto::Module& m) { m.set_schema_version(3); }, "schema version 3"},
      {[](proto::Module& m) { m.set_schema_version(0); }, "schema version 0"},
      {[](proto::Module& m) { m.set_name("two words"); }, "\"two words\""},
      {[](proto::Module& m) { m.set_name(""); }, "no identifier"},
      {[](proto::Module& m) { m.set_name("m\xc3\xa9n"); }, "no identifier"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_name("a-b"); },
       "\"a-b\", which is no identifier"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_name("7th"); },
       "no identifier"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_name("lambda"); },
       "no identifier"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_name("f\n"); },
       "f\\n"},
      {[](proto::Module& m) { m.mutable_functions()->RemoveLast(); },
       "cut off"},
      {[](proto::Module& m) {
         m.mutable_functions(0)->mutable_nodes()->RemoveLast();
       },
       "cut off"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_body(99999); },
       "reference 99999"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_body(0); },
       "reference 0"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_body(1); },
       "no statement"},
      {[](proto::Module& m) { m.mutable_functions(0)->set_next_id(1); },
       "next_id"},
      {[](proto::Module& m) {
         m.mutable_functions(0)->mutable_nodes(0)->mutable_expr()->set_kind(
             "Magic");
       },
       "\"Magic\""},
      {[](proto::Module& m) {
         m.mutable_functions(0)->mutable_nodes(0)->mutable_expr()->set_dtype(
             "int7");
       },
       "\"int7\""},
      {[](proto::Module& m) {
         m.mutable_functions(0)->mutable_nodes(0)->mutable_expr()->add_operands(
             1);
       },
       "operands"},
      {[](proto::Module& m) {
         m.mutable_functions(0)->mutable_nodes(0)->clear_value();
       },
       "neither"}};
  for (const auto& bad : kCases) {
    proto::Module message = ModuleToProto(ModuleOf(3));
    bad.spoil(message);
    EXPECT_THAT(
        ModuleFromProto(message).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(bad.message)));
  }
}

TEST(SerialTest, TruncatedBytesAreRefused) {
  const std::string bytes = SerializeModule(ModuleOf(5));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseModuleBytes(bytes.substr(0, size)).ok()) << size;
  }
}

TEST(SerialTest, FlippedBitsNeverCrash) {
  std::mt19937_64 random(11);
  int refused = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::string bytes = SerializeModule(ModuleOf(seed % 40));
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    absl::StatusOr<Module> module = ParseModuleBytes(bytes);
    if (module.ok()) {
      SerializeModule(*module);
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(SerialTest, GarbageIsRefused) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_FALSE(ParseModuleBytes(bytes).ok());
  }
}

}  // namespace
}  // namespace kiln
