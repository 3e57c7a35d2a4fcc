// All tensors of a program have one of few shapes, (n, m), (n) or (m), so that
// any nest can read any of them. A nest is a line of stores inside a block
// with the iterators vi < n and vj < m (and vk, which is reduced):
//
//   for j, i in T.grid(5, 7):
//       with T.block("B1"):
//           vi, vj = T.axis.remap("SS", [i, j])
//           X[R[vi], vj] = X[vi, vj] + T.if_then_else(vj < 4, A[vi, vj + 1],
//           ...)
//
// Tensors that a nest writes in part are parameters or were written before.
#include "kiln/ir/testing/random_nests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/check.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/testing/nest_writer.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// Some blocks right below the root declare more than they touch; but not in
// loops that run side by side, whose iterations would meet in it.
Stmt WithWiderRegions(const Stmt& s, std::mt19937_64& random) {
  const auto* loop = s.As<ForNode>();
  if (loop && loop->for_kind != ForKind::kSerial) return s;
  const auto* realize = s.As<BlockRealizeNode>();
  if (!realize) {
    return MapChildren(
        s, [&](const Stmt& child) { return WithWiderRegions(child, random); });
  }
  if (random() % 8 != 0) return s;
  BlockFields fields = realize->block->fields();
  for (auto* regions : {&fields.reads, &fields.writes}) {
    for (BufferRegion& region : *regions) {
      for (size_t d = 0; d < region.region.size(); ++d) {
        if (random() % 2) region.region[d] = {Int(0), region.buffer->shape[d]};
      }
    }
  }
  return MakeRealize(realize->values, realize->predicate,
                     MakeBlock(std::move(fields)));
}

// Some inputs that no nest writes have no layout of their own.
void FreeSomeLayouts(std::mt19937_64& random, Function* f) {
  std::vector<int> inputs;
  for (size_t i = 0; i < f->params.size(); ++i) {
    const Buffer& buffer = f->params[i].buffer;
    const char kind = buffer ? buffer->name[0] : ' ';
    if ((kind == 'A' || kind == 'W') && random() % 2) {
      inputs.push_back(static_cast<int>(i));
    }
  }
  if (!inputs.empty()) SetLayoutFree(f, inputs);
}

}  // namespace

void NestWriter::AddNest() {
  using Kind = void (NestWriter::*)();
  static const std::vector<Kind> kinds = {
      &NestWriter::Map,          &NestWriter::Map,
      &NestWriter::Map,          &NestWriter::Part,
      &NestWriter::Scatter,      &NestWriter::Repeated,
      &NestWriter::Accumulate,   &NestWriter::Reduce,
      &NestWriter::Reduce,       &NestWriter::Product,
      &NestWriter::TwoStores,    &NestWriter::Conditional,
      &NestWriter::Histogram,    &NestWriter::Scan,
      &NestWriter::Update,       &NestWriter::Stencil,
      &NestWriter::Largest,      &NestWriter::RowViews,
      &NestWriter::AliasedViews, &NestWriter::Nested,
      &NestWriter::OwnBuffer,    &NestWriter::Opaque,
      &NestWriter::IndexLet,     &NestWriter::Wrapped,
      &NestWriter::Guarded,      &NestWriter::Triangle,
      &NestWriter::Compare,      &NestWriter::WiderSum,
      &NestWriter::Cube};
  (this->*Pick(kinds))();
}

NestProgram NestWriter::Run(uint64_t seed) {
  static const std::vector<std::string> types = {
      "float32", "float32", "float32", "float64",  "float16", "int8",  "uint8",
      "int16",   "int32",   "int64",   "bfloat16", "uint16",  "uint32"};
  dtype_ = Pick(types);
  float_ = dtype_[0] == 'f' || dtype_[0] == 'b';
  symbolic_ = Chance(10);
  // Sizes at which loops are blocked and prefetched, now and then.
  const bool large = seed % 64 == 33;
  n_ = 1 + Below(large ? 40 : 9);
  m_ = 1 + Below(large ? 96 : 17);
  const int64_t inputs = 1 + Below(2);
  for (int64_t i = 0; i < inputs; ++i) {
    read_only_.push_back(Param("A", absl::StrCat(Rows(), ", ", m_), dtype_));
  }
  for (int64_t nests = 1 + Below(large ? 2 : 4); nests > 0; --nests) AddNest();
  // A last tensor that is no parameter is copied to one, so that it is seen.
  if (!written_.empty() && written_.back()[0] == 'T') {
    const std::string source = written_.back(), x = NewMatrix();
    Nest(Plane(), {absl::StrCat(x, "[vi, vj] = ", source, "[vi, vj]")});
  }
  NestProgram program;
  program.text = absl::StrCat("@T.prim_func\ndef main(",
                              absl::StrJoin(params_, ", "), "):\n");
  if (symbolic_) absl::StrAppend(&program.text, "        n = T.int64()\n");
  for (const std::string& line : allocations_) {
    absl::StrAppend(&program.text, "        ", line, "\n");
  }
  absl::StrAppend(&program.text, lines_);
  absl::StatusOr<Function> f = ParseFunction("nests.py", program.text);
  KILN_CHECK(f.ok()) << f.status().ToString() << "\n" << program.text;
  program.function = *std::move(f);
  const BlockRealizeNode& root = *program.function.body.As<BlockRealizeNode>();
  BlockFields fields = root.block->fields();
  fields.body = WithWiderRegions(fields.body, random_);
  program.function.body =
      MakeRealize(root.values, root.predicate, MakeBlock(std::move(fields)));
  if (!symbolic_ && Chance(6)) FreeSomeLayouts(random_, &program.function);
  program.inputs = RandomInputs(program.function, seed, /*symbol=*/n_);
  for (size_t p = 0; p < below_.size(); ++p) {
    if (below_[p] == 0) continue;
    Tensor& t = program.inputs[p];
    for (int64_t i = 0; i < t.size(); ++i) t.SetInt(i, Below(below_[p]));
  }
  return program;
}

NestProgram RandomNests(uint64_t seed) { return NestWriter(seed).Run(seed); }

}  // namespace kiln
