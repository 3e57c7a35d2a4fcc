// A block goes into its consumers unless that computes much again, or reads in
// a bad order. Of padding, both ways are tried, but for rows that are
// contiguous:
//
//   p[c, w] = x[c, w - 1] if 1 <= w < 57 else 0        stays: vectors of y
//   y[k, w] += p[c, w + r] * weight[k, c, r]           are along w
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/feature/ops.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

// Whether elements are read in another order than they are written in. Those
// that several ones are unpacked from lag behind.
bool Reorders(const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  if (column < 0) return false;
  return std::any_of(info.reads.begin(), info.reads.end(),
                     [&](const ReadInfo& read) {
                       return read.Uses(column) && !read.LiesAlong(column);
                     });
}

// Elements of what the block reads by which `axis` of a consumer would move,
// which reads the block's own elements as `read` says; nullopt where that
// cannot be told.
std::optional<double> StrideInPlace(const BlockInfo& block,
                                    const ReadInfo& read, int axis) {
  if (!read.strides[axis] || block.reads.size() != 1) return std::nullopt;
  double row = 1;
  for (int dim = read.dims() - 1; dim >= 0; --dim) {
    if (row == *read.strides[axis]) {
      for (size_t i = 0; i < block.axes.size(); ++i) {
        if (block.axes[i].write_dim == dim) return block.reads[0].strides[i];
      }
    }
    row *= static_cast<double>(read.shape[dim]);
  }
  return std::nullopt;
}

// Whether the consumer, along its vectors, or along its longest sum where all
// lanes use one element, comes to contiguous elements where it read others.
bool ReadsBetterInPlace(const BlockInfo& block, const BlockInfo& consumer,
                        const ReadInfo& read) {
  int axis = consumer.VectorAxis();
  if (axis < 0) return false;
  if (!read.Uses(axis)) {
    int64_t longest = 1;
    for (size_t i = 0; i < consumer.axes.size(); ++i) {
      if (!consumer.axes[i].reduce || consumer.axes[i].extent <= longest) {
        continue;
      }
      axis = static_cast<int>(i);
      longest = consumer.axes[i].extent;
    }
  }
  return read.strides[axis] != 1.0 && StrideInPlace(block, read, axis) == 1.0;
}

// Whether reductions, which read each element many times, had better find what
// the block makes as it makes it.
bool ServesReductions(const Function& f, const BlockInfo& info) {
  const Buffer& written = NodeOf(f, info.name).writes[0].buffer;
  return std::any_of(
      info.consumers.begin(), info.consumers.end(), [&](const auto& name) {
        const auto consumer = DescribeBlock(f, name);
        if (!consumer) return true;
        if (consumer->CountReduce() == 0) return false;
        return std::any_of(consumer->reads.begin(), consumer->reads.end(),
                           [&](const ReadInfo& read) {
                             return NodeOf(f, name).reads[read.index].buffer ==
                                        written &&
                                    !ReadsBetterInPlace(info, *consumer, read);
                           });
      });
}

// Whether the block, along the axis of its vectors, goes through the buffer.
bool ReadsAlongVectors(const BlockNode& block, const BlockInfo& info,
                       const Buffer& buffer) {
  const int axis = info.VectorAxis();
  return axis >= 0 &&
         std::any_of(info.reads.begin(), info.reads.end(),
                     [&](const ReadInfo& read) {
                       return block.reads[read.index].buffer == buffer &&
                              read.Uses(axis);
                     });
}

// The variables that conditions of a choice in the block depend on.
std::vector<Var> ChoiceVars(const BlockNode& block) {
  std::vector<Var> vars;
  Visit(block.body, [&](const Stmt& s) {
    ForEachExpr(s, [&](const Expr& e) {
      Visit(e, [&](const Expr& inner) {
        const auto* call = inner.As<CallNode>();
        if (!call || call->op != Intrinsic::kIfThenElse) return true;
        const std::vector<Var> some = FreeVars(call->args[0]);
        vars.insert(vars.end(), some.begin(), some.end());
        return true;
      });
    });
    return true;
  });
  return vars;
}

// Whether lanes of one vector would fall on both sides of the condition, as
// they do where images are padded whose rows are contiguous: the block chooses
// by the axis along which sums of it are written as vectors. In its place each
// lane would be read by itself.
bool DividesVectors(const Function& f, const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  if (column < 0 || !info.has_condition) return false;
  const BlockNode& block = NodeOf(f, info.name);
  const std::vector<Var> chosen = ChoiceVars(block);
  const bool by_column =
      std::any_of(chosen.begin(), chosen.end(), [&](const Var& var) {
        return var.get() == block.iters[column].var.get();
      });
  const Buffer& written = block.writes[0].buffer;
  return by_column &&
         std::any_of(info.consumers.begin(), info.consumers.end(),
                     [&](const std::string& name) {
                       const auto consumer = DescribeBlock(f, name);
                       return consumer && consumer->CountReduce() > 0 &&
                              ReadsAlongVectors(NodeOf(f, name), *consumer,
                                                written);
                     });
}

constexpr int64_t kCheapNodes = 48;  // of an expression

// Counts what `counts` holds for, up to one more than `limit`.
int64_t Count(const Stmt& body, int64_t limit,
              FunctionRef<bool(const Expr&)> counts) {
  int64_t count = 0;
  Visit(body, [&](const Stmt& s) {
    ForEachExpr(s, [&](const Expr& e) {
      Visit(e, [&](const Expr& inner) {
        if (count <= limit && counts(inner)) ++count;
        return count <= limit;
      });
    });
    return count <= limit;
  });
  return count;
}

// Loads of what the block writes in the body of a consumer, up to two.
int64_t CountUses(const Function& f, const BlockInfo& info,
                  const std::string& consumer) {
  const Buffer& written = NodeOf(f, info.name).writes[0].buffer;
  return Count(NodeOf(f, consumer).body, 1, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    return load && load->buffer == written;
  });
}

// A value of several uses is computed for each of them: it has to be cheap.
bool IsCheapOrUsedOnce(const Function& f, const BlockInfo& info) {
  const BlockNode& block = NodeOf(f, info.name);
  const auto any = [](const Expr&) { return true; };
  if (Count(block.body, kCheapNodes, any) <= kCheapNodes) return true;
  return info.consumers.size() == 1 &&
         CountUses(f, info, info.consumers[0]) == 1;
}

// Uses of each element by reductions from which on it is better kept: where it
// is computed in another order than it was written in, and a quotient.
constexpr double kUsesInOrder = 2;
constexpr double kUsesOfQuotients = 8;
// From so many on what takes some operations may be worth keeping: 128 rows
// times a matrix of packed numbers, which each register tile would unpack.
constexpr double kUsesOfSteps = 48;
constexpr int64_t kFewSteps = 3;
constexpr int64_t kManyRows = 16;

// Whether the block divides by what it reads. A product would divide for each
// of its columns, one element after the other.
bool Divides(const BlockNode& block) {
  return Count(block.body, 0, [](const Expr& e) {
           return e.kind() == ExprKind::kDiv && e.dtype().is_float() &&
                  !e.As<BinaryNode>()->b.As<FloatImmNode>();
         }) > 0;
}

// Whether some reduction reads each element of the block that often.
bool ReductionsReuse(const Function& f, const BlockInfo& info, double uses) {
  const auto elements = static_cast<double>(info.SpatialSize());
  return std::any_of(
      info.consumers.begin(), info.consumers.end(),
      [&](const std::string& name) {
        const auto consumer = DescribeBlock(f, name);
        return consumer && consumer->CountReduce() > 0 &&
               static_cast<double>(consumer->SpatialSize()) *
                       static_cast<double>(consumer->ReduceSize()) >=
                   uses * elements;
      });
}

// Whether reductions would do several operations many times over.
bool RepeatsSteps(const Function& f, const BlockInfo& info) {
  const auto is_step = [](const Expr& e) { return ClassOf(e).has_value(); };
  return Count(NodeOf(f, info.name).body, kFewSteps, is_step) > kFewSteps &&
         ReductionsReuse(f, info, kUsesOfSteps);
}

// Whether each value is used once, by an elementwise block: in its place it is
// computed as often as apart.
bool IsUsedOncePerElement(const Function& f, const BlockInfo& info) {
  if (info.consumers.size() != 1) return false;
  const auto consumer = DescribeBlock(f, info.consumers[0]);
  return consumer && consumer->is_elementwise &&
         consumer->SpatialSize() == info.SpatialSize() &&
         CountUses(f, info, consumer->name) == 1;
}

bool SumsUp(const Function& f, const std::string& name) {
  const auto info = DescribeBlock(f, name);
  return info && info->CountReduce() > 0;
}

// Whether the block is the last thing done with a sum before that is padded for
// another one: on the tiles of the first it is done once for each element.
bool EndsSum(const Function& f, const BlockInfo& info) {
  const auto sums_up = [&](const std::string& name) { return SumsUp(f, name); };
  if (info.consumers.size() != 1 || info.has_condition) return false;
  const auto consumer = DescribeBlock(f, info.consumers[0]);
  return consumer && consumer->is_elementwise && consumer->has_condition &&
         absl::c_any_of(info.producers, sums_up) &&
         absl::c_any_of(consumer->consumers, sums_up);
}

// Whether the block spreads what stands for several columns over them, for many
// rows of each consumer: those would look for its place again in each row.
bool SpreadsForRows(const Function& f, const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  return column >= 0 &&
         absl::c_any_of(
             info.reads,
             [&](const ReadInfo& read) { return read.lags[column]; }) &&
         absl::c_all_of(info.consumers, [&](const std::string& name) {
           const auto consumer = DescribeBlock(f, name);
           return consumer && consumer->is_elementwise &&
                  consumer->SpatialSize() >= kManyRows * info.SpatialSize();
         });
}

absl::StatusOr<Schedule> Inline(Schedule sch, const std::string& block,
                                const std::string& function) {
  KILN_ASSIGN_OR_RETURN(const Rv rv, sch.GetBlock(block, function));
  KILN_RETURN_IF_ERROR(sch.ComputeInline(rv));
  return sch;
}

}  // namespace

std::vector<Schedule> AutoInline(const Schedule& sch, const std::string& block,
                                 const RuleContext& context) {
  const auto info = DescribeBlock(FunctionOf(sch, context), block);
  if (!info || !info->is_elementwise || info->is_output) return {};
  if (info->consumers.empty()) return {};
  if (info->is_expensive &&
      !IsUsedOncePerElement(FunctionOf(sch, context), *info)) {
    return {};
  }
  if (!IsCheapOrUsedOnce(FunctionOf(sch, context), *info)) return {};
  if (Reorders(*info) && ServesReductions(FunctionOf(sch, context), *info) &&
      ReductionsReuse(FunctionOf(sch, context), *info, kUsesInOrder)) {
    return {};
  }
  if (Divides(NodeOf(FunctionOf(sch, context), info->name)) &&
      ReductionsReuse(FunctionOf(sch, context), *info, kUsesOfQuotients)) {
    return {};
  }
  if (DividesVectors(FunctionOf(sch, context), *info)) return {};
  if (EndsSum(FunctionOf(sch, context), *info)) return {};
  if (SpreadsForRows(FunctionOf(sch, context), *info)) return {};
  std::vector<Schedule> made =
      OnlyWay(Inline(sch, block, FunctionOf(sch, context).name), context);
  const bool may_stay =
      info->has_condition || RepeatsSteps(FunctionOf(sch, context), *info);
  if (!made.empty() && may_stay) made.push_back(sch);
  return made;
}

}  // namespace kiln
