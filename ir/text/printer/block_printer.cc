// Blocks: axes, predicate, regions, annotations, buffers, init.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/text/printer/literals.h"
#include "kiln/ir/text/printer/stmt_printer.h"

namespace kiln::script {
namespace {

std::string_view AxisName(IterType type) {
  switch (type) {
    case IterType::kSpatial:
      return "spatial";
    case IterType::kReduce:
      return "reduce";
    case IterType::kOpaque:
      return "opaque";
  }
  return "";
}

char AxisLetter(IterType type) {
  switch (type) {
    case IterType::kSpatial:
      return 'S';
    case IterType::kReduce:
      return 'R';
    case IterType::kOpaque:
      return 'O';
  }
  return ' ';
}

}  // namespace

// Whether the iterator is a loop variable over all of its range.
bool StmtPrinter::IsRemap(const IterVar& iter, const Expr& value) const {
  const auto* var = value.As<VarNode>();
  auto loop = loops_.find(var);
  return var != nullptr && loop != loops_.end() &&
         SameExpr(loop->second.min, iter.domain.min) &&
         SameExpr(loop->second.extent, iter.domain.extent);
}

// Neighbours that are loop variables share one T.axis.remap.
void StmtPrinter::PrintAxes(const BlockRealizeNode& realize) {
  const std::vector<IterVar>& iters = realize.block->iters;
  const std::vector<Expr>& values = realize.values;
  size_t i = 0;
  while (i < iters.size()) {
    size_t end = i;
    while (end < iters.size() && IsRemap(iters[end], values[end])) ++end;
    if (end - i < 2) {
      const IterVar& iter = iters[i];
      const std::string value = exprs_.Print(values[i]);
      const Range& domain = iter.domain;
      std::string range = exprs_.Print(domain.extent);
      if (!IsZero(domain.min)) {
        range = absl::StrCat("(", exprs_.Print(domain.min), ", ",
                             exprs_.Print(Add(domain.min, domain.extent)), ")");
      }
      const std::string name = names_.Define(iter.var);
      Line(absl::StrCat(name, " = T.axis.", std::string(AxisName(iter.type)),
                        "(", range, ", ", value, ")"));
      ++i;
      continue;
    }
    std::string kinds;
    std::vector<std::string> names, loops;
    for (size_t k = i; k < end; ++k) {
      kinds.push_back(AxisLetter(iters[k].type));
      loops.push_back(exprs_.Print(values[k]));
    }
    for (size_t k = i; k < end; ++k) {
      names.push_back(names_.Define(iters[k].var));
    }
    Line(absl::StrCat(absl::StrJoin(names, ", "), " = T.axis.remap(\"", kinds,
                      "\", [", absl::StrJoin(loops, ", "), "])"));
    i = end;
  }
}

void StmtPrinter::PrintBlock(const BlockRealizeNode& realize) {
  const BlockNode& block = *realize.block;
  Line(absl::StrCat("with T.", newest_ ? "sblock" : "block", "(",
                    Quoted(block.name), "):"));
  NamesScope scope(names_);
  Indent();
  PrintAxes(realize);
  if (!IsOne(realize.predicate)) {
    Line(absl::StrCat("T.where(", exprs_.Print(realize.predicate), ")"));
  }
  BlockParts(block);
  Print(block.body);
  Dedent();
}

void StmtPrinter::BlockParts(const BlockNode& block) {
  auto regions = [&](const std::vector<BufferRegion>& list) {
    std::vector<std::string> texts;
    for (const BufferRegion& region : list) {
      texts.push_back(exprs_.Region(region));
    }
    return absl::StrJoin(texts, ", ");
  };
  Line(absl::StrCat("T.reads(", regions(block.reads), ")"));
  Line(absl::StrCat("T.writes(", regions(block.writes), ")"));
  if (!block.annotations.empty()) {
    Line(absl::StrCat("T.", newest_ ? "sblock_attr" : "block_attr", "(",
                      exprs_.AttributeMap(block.annotations), ")"));
  }
  const std::string alloc =
      newest_ ? "T.sblock_alloc_buffer(" : "T.alloc_buffer(";
  for (const Buffer& buffer : block.alloc_buffers) {
    DeclareBuffer(buffer, alloc, Declares::kAllocation);
  }
  for (const MatchBufferRegion& match : block.match_buffers) {
    DeclareBuffer(
        match.buffer,
        absl::StrCat("T.match_buffer(", exprs_.Region(match.source), ", "),
        Declares::kMatch);
  }
  if (block.init) {
    Line("with T.init():");
    PrintBody(block.init);
  }
}

}  // namespace kiln::script
