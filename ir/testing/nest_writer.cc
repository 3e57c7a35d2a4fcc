// Programs are written as text and then read: the text of a failing program can
// be printed and kept, and the reader is tested along the way.
//
// Each iterator of a block brings its own loops, one or two, and a binding in
// terms of them. The loops of all iterators may so stand in any order, and
// every program is in bounds as long as each axis is:
//
//   MakeAxis("vj", "spatial", "7"), split by 4
//     loops    j0 in range(2), j1 in range(4)
//     binding  vj = T.axis.spatial(7, j0 * 4 + j1)
//     where    j0 * 4 + j1 < 7
//
// Indices that come from data, such as C2[vj], read parameters whose contents
// are drawn below the extent that they index (below_).
#include "kiln/ir/testing/nest_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {

std::string NestWriter::Const(int64_t halves) const {
  if (float_) {
    return absl::StrCat("T.", dtype_, "(",
                        absl::StrCat(static_cast<double>(halves) * 0.5), ")");
  }
  return absl::StrCat("T.", dtype_, "(", halves < 0 ? -halves : halves, ")");
}

std::string NestWriter::Param(const char* prefix, const std::string& shape,
                              const std::string& dtype, int64_t below) {
  const std::string name = absl::StrCat(prefix, names_++);
  const bool by_handle = symbolic_;
  params_.push_back(by_handle ? absl::StrCat(name, "_h: T.handle")
                              : absl::StrCat(name, ": T.Buffer((", shape,
                                             "), \"", dtype, "\")"));
  if (by_handle) {
    allocations_.push_back(absl::StrCat(name, " = T.match_buffer(", name,
                                        "_h, (", shape, "), \"", dtype, "\")"));
  }
  below_.push_back(below);
  return name;
}

std::string NestWriter::NewMatrix() {
  written_.push_back(Param("X", absl::StrCat(Rows(), ", ", m_), dtype_));
  return written_.back();
}

std::string NestWriter::LoadOf(const std::string& x) {
  const int64_t last = m_ - 1;
  switch (Below(symbolic_ ? 5 : 9)) {
    case 0:
      return absl::StrCat("T.if_then_else(vj < ", last, ", ", x,
                          "[vi, vj + 1], ", Const(1), ")");
    case 1:
      return absl::StrCat(x, "[vi, T.max(vj - 1, 0)]");
    case 2:
      return absl::StrCat(x, "[vi, ", last, " - vj]");
    case 3:
      return absl::StrCat(x, "[vi, (vj + ", Below(m_), ") % ", m_, "]");
    case 4:
      return absl::StrCat(x, "[vi, ", Param("C", absl::StrCat(m_), "int32", m_),
                          "[vj]]");
    case 5:
      return absl::StrCat(x, "[", n_ - 1, " - vi, vj]");
    case 6:
      return absl::StrCat("T.if_then_else(0 < vi, ", x, "[vi - 1, vj], ",
                          Const(-1), ")");
    case 7:
      return absl::StrCat(
          x, "[", Param("R", Rows(), Chance(50) ? "int64" : "uint8", n_),
          "[vi], vj]");
    default:
      return absl::StrCat(x, "[vi // 2, vj]");
  }
}

std::string NestWriter::Load() {
  std::vector<std::string> all = read_only_;
  all.insert(all.end(), written_.begin(), written_.end());
  const std::string& x = Pick(all);
  return Chance(45) ? absl::StrCat(x, "[vi, vj]") : LoadOf(x);
}

// A scalar parameter. One of another type than the tensors is compared with
// columns, and its values are columns.
std::string NestWriter::Scalar(const std::string& dtype) {
  const std::string name = absl::StrCat("s", names_++);
  params_.push_back(absl::StrCat(name, ": T.", dtype));
  below_.push_back(dtype == dtype_ ? 0 : m_);
  return name;
}

std::string NestWriter::Condition() {
  switch (Below(6)) {
    case 0:
      return absl::StrCat("vi + vj < ", n_);
    case 1:
      return absl::StrCat("(vi + vj) % 2 == 0");
    case 2:
      return absl::StrCat("0 < vj and vj < ", m_ - 1);
    case 3:
      return absl::StrCat(Param("M", absl::StrCat(Rows(), ", ", m_), "bool"),
                          "[vi, vj]");
    case 4:
      return absl::StrCat("vj <= ", Scalar("uint8"));
    default:
      return absl::StrCat(Const(0), " < ", Pick(read_only_), "[vi, vj]");
  }
}

std::string NestWriter::Value() {
  const std::string a = Load();
  switch (Below(8)) {
    case 0:
      return a;
    case 1:
      return absl::StrCat("T.max(", a, ", ", Load(), ")");
    case 2:
      return absl::StrCat(a, " + ", Load());
    case 3:
      return absl::StrCat(a, " - ", Const(Below(5)));
    case 4:
      return absl::StrCat("T.Select(", Condition(), ", ", a, ", ", Load(), ")");
    case 5:
      return absl::StrCat("T.if_then_else(", Condition(), ", ", a, ", ",
                          Const(2), ")");
    case 6:
      return absl::StrCat(a, " + ", Scalar(dtype_));
    default:
      return float_ ? absl::StrCat(a, " * ", Const(1), " + ", Load())
                    : absl::StrCat("T.min(", a, ", ", Const(3), ")");
  }
}

Axis NestWriter::MakeAxis(const std::string& name, std::string type,
                          const std::string& extent) {
  const std::string loop = name.substr(1);
  Axis axis{name, std::move(type), extent, {{loop, extent}}, loop, ""};
  if (extent == "n" || Chance(70)) return axis;
  const int64_t whole = std::stoll(extent), inner = 2 + Below(4);
  const int64_t outer = (whole + inner - 1) / inner;
  axis.loops = {{loop + "0", absl::StrCat(outer)},
                {loop + "1", absl::StrCat(inner)}};
  axis.binding = absl::StrCat(loop, "0 * ", inner, " + ", loop, "1");
  if (outer * inner != whole) {
    axis.where = absl::StrCat(axis.binding, " < ", whole);
  }
  return axis;
}

void NestWriter::Line(int depth, const std::string& text) {
  absl::StrAppend(&lines_, std::string(4 * (depth + 2), ' '), text, "\n");
}

void NestWriter::Nest(std::vector<Axis> axes,
                      const std::vector<std::string>& body,
                      bool may_be_parallel) {
  std::vector<std::pair<std::string, std::string>> loops;
  std::vector<std::string> where;
  for (const Axis& axis : axes) {
    loops.insert(loops.end(), axis.loops.begin(), axis.loops.end());
    if (!axis.where.empty()) where.push_back(axis.where);
  }
  if (Chance(40)) std::shuffle(loops.begin(), loops.end(), random_);
  if (Chance(30)) std::shuffle(axes.begin(), axes.end(), random_);
  const std::vector<std::string> kinds = {"range", "range", "T.unroll",
                                          "T.vectorized"};
  int depth = 0;
  for (const auto& [variable, extent] : loops) {
    const bool outermost = depth == 0,
               innermost = depth + 1 == std::ssize(loops);
    std::string kind = "range";
    if (may_be_parallel && innermost) kind = Pick(kinds);
    if (may_be_parallel && outermost && Chance(40)) kind = "T.parallel";
    if (extent == "n" && kind != "T.parallel") kind = "range";
    Line(depth++,
         absl::StrCat("for ", variable, " in ", kind, "(", extent, "):"));
  }
  Line(depth++, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  for (const Axis& axis : axes) {
    Line(depth, absl::StrCat(axis.name, " = T.axis.", axis.type, "(",
                             axis.extent, ", ", axis.binding, ")"));
  }
  if (!where.empty()) {
    Line(depth, absl::StrCat("T.where(", absl::StrJoin(where, " and "), ")"));
  }
  for (const std::string& line : body) Line(depth, line);
}

// Both iterators spatial, over all rows and columns but the last few.
std::vector<Axis> NestWriter::Plane(int64_t rows_less, int64_t columns_less) {
  const std::string rows =
      symbolic_ ? "n" : absl::StrCat(std::max<int64_t>(1, n_ - rows_less));
  const std::string columns =
      absl::StrCat(std::max<int64_t>(1, m_ - columns_less));
  return {MakeAxis("vi", "spatial", rows), MakeAxis("vj", "spatial", columns)};
}

}  // namespace kiln
