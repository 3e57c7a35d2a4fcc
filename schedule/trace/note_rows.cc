// Steps that change what is said of the program rather than its loops:
// annotations, types, scopes and declared accesses.
//
//   sch.annotate(block_or_loop=b0, ann_key="pragma_x", ann_val=[1, 2])
//
// A first argument may be a loop or a block: c.is_loop(0) tells which. Rows and
// their functions are as in loop_rows.cc.
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/primitive/annotate.h"
#include "kiln/schedule/primitive/annotate_buffer_access.h"
#include "kiln/schedule/primitive/hide_buffer_access.h"
#include "kiln/schedule/primitive/reorder_block_iter_var.h"
#include "kiln/schedule/primitive/set_dtype.h"
#include "kiln/schedule/primitive/set_scope.h"
#include "kiln/schedule/trace/buffer_arg.h"
#include "kiln/schedule/trace/table.h"

namespace kiln {
namespace {

absl::Status Take(ApplyContext& c, absl::StatusOr<Function> f) {
  KILN_RETURN_IF_ERROR(f.status());
  c.SetFunction(*std::move(f));
  return absl::OkStatus();
}

absl::Status ApplyAnnotate(ApplyContext& c) {
  const int64_t id = c.loop(0);
  KILN_ASSIGN_OR_RETURN(const Attr value, c.attr(2));
  return Take(c, c.is_loop(0)
                     ? AnnotateLoop(c.function(), id, c.string(1), value)
                     : AnnotateBlock(c.function(), id, c.string(1), value));
}

absl::Status ApplyUnannotate(ApplyContext& c) {
  const int64_t id = c.loop(0);
  return Take(c, c.is_loop(0) ? UnannotateLoop(c.function(), id, c.string(1))
                              : UnannotateBlock(c.function(), id, c.string(1)));
}

absl::StatusOr<BufferSide> SideOf(ApplyContext& c, int i) {
  if (c.string(i) == "read") return BufferSide::kRead;
  if (c.string(i) == "write") return BufferSide::kWrite;
  return BadArgument(c.kind().name,
                     absl::StrCat("`", c.string(i), "` is no side of a block"),
                     "it is \"read\" or \"write\"");
}

absl::Status ApplyAnnotateBufferAccess(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const BufferSide side, SideOf(c, 2));
  KILN_ASSIGN_OR_RETURN(
      const int index,
      BufferIndex(c.function(), block, c.arg(1), side, c.kind().name));
  return Take(c,
              AnnotateBufferAccess(c.function(), block, index,
                                   side == BufferSide::kWrite, c.index_map(3)));
}

absl::Status ApplyHideBufferAccess(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const BufferSide side, SideOf(c, 1));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, c.integers(2));
  return Take(c, HideBufferAccess(c.function(), block,
                                  side == BufferSide::kWrite, indices));
}

absl::Status ApplySetScope(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const int index,
                        BufferIndex(c.function(), block, c.arg(1),
                                    BufferSide::kWrite, "set_scope"));
  return Take(c, SetScope(c.function(), block, index, c.string(2)));
}

absl::Status ApplySetDtype(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const int index,
                        BufferIndex(c.function(), block, c.arg(1),
                                    BufferSide::kWrite, "unsafe_set_dtype"));
  return Take(c, UnsafeSetDtype(c.function(), block, index, c.string(2)));
}

absl::Status ApplyHoistCast(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const int index,
                        BufferIndex(c.function(), block, c.arg(1),
                                    BufferSide::kWrite, "hoist_cast"));
  return Take(c, HoistCast(c.function(), block, index));
}

absl::Status ApplyReorderBlockIterVar(ApplyContext& c) {
  const BlockId block = c.block(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> order, c.integers(1));
  return Take(c, ReorderBlockIterVar(c.function(), block, order));
}

absl::Status ApplyEnterPostproc(ApplyContext&) { return absl::OkStatus(); }

}  // namespace

absl::StatusOr<Attr> ToAttr(
    const Arg& arg, FunctionRef<absl::StatusOr<int64_t>(const Arg&)> evaluate) {
  if (arg.is_none()) return Attr();
  if (arg.boolean()) return Attr(Bool(*arg.boolean()));
  if (arg.real()) return Attr(Float(*arg.real(), DType::Float(64)));
  if (arg.string()) return Attr(*arg.string());
  if (arg.list()) {
    AttrList list;
    for (const Arg& item : *arg.list()) {
      KILN_ASSIGN_OR_RETURN(Attr value, ToAttr(item, evaluate));
      list.push_back(std::move(value));
    }
    return Attr(std::move(list));
  }
  if (arg.dict()) {
    AttrMap map;
    for (const auto& [key, item] : *arg.dict()) {
      KILN_ASSIGN_OR_RETURN(map[key], ToAttr(item, evaluate));
    }
    return Attr(std::move(map));
  }
  KILN_ASSIGN_OR_RETURN(const int64_t value, evaluate(arg));
  return Attr(Int(value));
}

InstructionKind StepRow(std::string_view name, std::vector<ParamInfo> params,
                        absl::Status (*apply)(ApplyContext&), Outputs outputs,
                        RvKind output_kind) {
  return {.name = name,
          .aliases = {},
          .params = std::move(params),
          .outputs = outputs,
          .output_kind = output_kind,
          .is_pure = false,
          .samples = false,
          .apply = apply};
}

std::vector<InstructionKind> NoteRows() {
  const ParamInfo place = {"block_or_loop", ParamKind::kBlockOrLoop};
  const ParamInfo key = {"ann_key", ParamKind::kString};
  return {
      StepRow("annotate", {place, key, {"ann_val", ParamKind::kAttr}},
              ApplyAnnotate),
      StepRow("unannotate", {place, key}, ApplyUnannotate),
      StepRow("annotate_buffer_access",
              {{"block", ParamKind::kBlock},
               {"buffer_index", ParamKind::kBufferIndex},
               {"buf_type", ParamKind::kString},
               {"gen_new_ranges", ParamKind::kRanges}},
              ApplyAnnotateBufferAccess),
      StepRow("unsafe_hide_buffer_access",
              {{"block", ParamKind::kBlock},
               {"buf_type", ParamKind::kString},
               {"buf_index_array", ParamKind::kInts}},
              ApplyHideBufferAccess),
      StepRow("set_scope",
              {{"block", ParamKind::kBlock},
               {"buffer_index", ParamKind::kBufferIndex},
               {"storage_scope", ParamKind::kString}},
              ApplySetScope),
      StepRow("unsafe_set_dtype",
              {{"block", ParamKind::kBlock},
               {"buffer_index", ParamKind::kBufferIndex},
               {"dtype", ParamKind::kString}},
              ApplySetDtype),
      StepRow("hoist_cast",
              {{"block", ParamKind::kBlock},
               {"buffer_index", ParamKind::kBufferIndex}},
              ApplyHoistCast),
      StepRow("reorder_block_iter_var",
              {{"block", ParamKind::kBlock}, {"new_order", ParamKind::kInts}},
              ApplyReorderBlockIterVar),
      StepRow("enter_postproc", {}, ApplyEnterPostproc),
  };
}

}  // namespace kiln
