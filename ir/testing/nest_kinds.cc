// Nests of one block with the iterators vi < n and vj < m, one function for
// each kind. Reduce, for instance, may write
//
//   for i in range(5):
//       for j in range(7):
//           with T.block("B0"):
//               vi = T.axis.spatial(5, i)
//               vj = T.axis.reduce(7, j)
//               with T.init():
//                   Y1[vi] = T.float32(0)
//               Y1[vi] = Y1[vi] + A0[vi, vj]
//
// A kind is added as a function here, declared in nest_writer.h, and a row of
// AddNest in random_nests.cc.
#include "absl/strings/str_cat.h"
#include "kiln/ir/testing/nest_writer.h"

namespace kiln {

void NestWriter::Map() {
  const std::string value = Value();
  const std::string name = absl::StrCat("T", names_++);
  allocations_.push_back(absl::StrCat(name, " = T.alloc_buffer((", Rows(), ", ",
                                      m_, "), \"", dtype_, "\")"));
  Nest(Plane(), {absl::StrCat(name, "[vi, vj] = ", value)},
       /*may_be_parallel=*/true);
  written_.push_back(name);
}

// Rows and columns from the second on.
void NestWriter::Part() {
  const std::string x = NewMatrix();
  if (symbolic_ || n_ == 1) return Update();
  std::string value = absl::StrCat(Pick(read_only_), "[vi + 1, vj]");
  Nest(Plane(1, 0),
       {absl::StrCat(x, "[vi + 1, vj] = ", value, " + ", x, "[vi, vj]")});
}

void NestWriter::Scatter() {
  const std::string x = NewMatrix(), value = Value();
  const std::string at = Param("S", absl::StrCat(m_), "int32", m_);
  Nest(Plane(), {absl::StrCat(x, "[vi, ", at, "[vj]] = ", value)});
}

// Many iterations write one element; the last one stays.
void NestWriter::Repeated() {
  const std::string x = NewMatrix(), value = Value();
  const std::vector<std::string> at = {
      "vi, vj // 2", "vi, vj % 2", "vi, 0",
      absl::StrCat("vi, T.min(vj, ", m_ / 2, ")"),
      absl::StrCat("vi, (vj * 2) % ", m_)};
  Nest(Plane(),
       {absl::StrCat(x, "[", m_ > 1 ? Pick(at) : "vi, 0", "] = ", value)});
}

void NestWriter::Accumulate() {
  const std::string x = NewMatrix();
  std::vector<Axis> axes = {
      MakeAxis("vi", "spatial", Rows()),
      MakeAxis("vj", Chance(80) ? "reduce" : "spatial", absl::StrCat(m_))};
  Nest(std::move(axes),
       {absl::StrCat(x, "[vi, ", m_ - 1, "] = ", x, "[vi, ", m_ - 1, "] + ",
                     Pick(read_only_), "[vi, vj]")});
}

void NestWriter::Reduce() {
  const std::string source = Pick(read_only_);
  const std::string y = Param("Y", Rows(), dtype_);
  const std::string load = absl::StrCat(source, "[vi, vj]");
  const std::string at = absl::StrCat(y, "[vi]");
  const bool sum = Chance(50);
  std::vector<Axis> axes = {MakeAxis("vi", "spatial", Rows()),
                            MakeAxis("vj", "reduce", absl::StrCat(m_))};
  if (!symbolic_ && axes[0].loops.size() + axes[1].loops.size() == 2 &&
      Chance(30)) {
    axes[1].where = absl::StrCat("j <= i");
  }
  const std::string value = Chance(25)
                                ? absl::StrCat("T.if_then_else(", Condition(),
                                               ", ", load, ", ", Const(0), ")")
                                : load;
  Nest(std::move(axes),
       {"with T.init():",
        absl::StrCat(
            "    ", at, " = ",
            sum ? Const(0) : absl::StrCat("T.min_value(\"", dtype_, "\")")),
        sum ? absl::StrCat(at, " = ", at, " + ", value)
            : absl::StrCat(at, " = T.max(", at, ", ", value, ")")});
}

void NestWriter::Product() {
  const std::string x = NewMatrix();
  const std::string w = Param("W", absl::StrCat(m_, ", ", m_), dtype_);
  const std::string at = absl::StrCat(x, "[vi, vj]");
  std::vector<Axis> axes = Plane();
  axes.push_back(MakeAxis("vk", "reduce", absl::StrCat(m_)));
  std::vector<std::string> body;
  if (Chance(60)) {
    body = {"with T.init():", absl::StrCat("    ", at, " = ", Const(0))};
  }
  body.push_back(absl::StrCat(at, " = ", at, " + ", Pick(read_only_),
                              "[vi, vk] * ", w, "[vk, vj]"));
  Nest(std::move(axes), body);
}

void NestWriter::TwoStores() {
  const std::string x = NewMatrix(), y = Chance(50) ? NewMatrix() : x;
  const std::string a = Pick(read_only_);
  if (y == x && m_ > 1) {
    std::vector<Axis> axes = {MakeAxis("vi", "spatial", Rows()),
                              MakeAxis("vj", "spatial", absl::StrCat(m_ / 2))};
    return Nest(std::move(axes),
                {absl::StrCat(x, "[vi, vj * 2] = ", a, "[vi, vj]"),
                 absl::StrCat(x, "[vi, vj ", Chance(50) ? "* 2 + 1" : "+ 1",
                              "] = ", a, "[vi, vj + 1]")});
  }
  Nest(Plane(),
       {absl::StrCat(x, "[vi, vj] = ", a, "[vi, vj]"),
        absl::StrCat(y, "[vi, vj] = ", x, "[vi, vj] + ", a, "[vi, vj]")});
}

void NestWriter::Conditional() {
  const std::string x = NewMatrix(), value = Value();
  std::vector<std::string> body = {
      absl::StrCat("if ", Condition(), ":"),
      absl::StrCat("    ", x, "[vi, vj] = ", value)};
  if (Chance(30)) {
    body.push_back("else:");
    body.push_back(
        absl::StrCat("    ", x, "[vi, ", m_ - 1, " - vj] = ", Const(3)));
  }
  Nest(Plane(), body);
}

void NestWriter::Histogram() {
  const std::string y = Param("Y", absl::StrCat(m_), dtype_);
  const std::string at = absl::StrCat(
      y, "[", Param("H", absl::StrCat(Rows(), ", ", m_), "int32", m_),
      "[vi, vj]]");
  const std::string type = Chance(70) ? "reduce" : "spatial";
  Nest({MakeAxis("vi", type, Rows()), MakeAxis("vj", type, absl::StrCat(m_))},
       {absl::StrCat(at, " = ", at, " + ", Const(2))});
}

void NestWriter::Scan() {
  const std::string x = NewMatrix(), a = Pick(read_only_);
  std::vector<Axis> axes = {
      MakeAxis("vi", "spatial", Rows()),
      MakeAxis("vj", Chance(60) ? "opaque" : "spatial", absl::StrCat(m_))};
  if (Chance(50)) {
    return Nest(
        std::move(axes),
        {absl::StrCat(x, "[vi, vj] = T.if_then_else(0 < vj, ", x,
                      "[vi, vj - 1], ", Const(0), ") + ", a, "[vi, vj]")});
  }
  Nest(std::move(axes),
       {"if vj == 0:", absl::StrCat("    ", x, "[vi, 0] = ", a, "[vi, 0]"),
        "else:",
        absl::StrCat("    ", x, "[vi, vj] = T.max(", x, "[vi, vj - 1], ", a,
                     "[vi, vj])")});
}

void NestWriter::Update() {
  const std::string x = written_.empty() ? NewMatrix() : Pick(written_);
  Nest(Plane(), {absl::StrCat(x, "[vi, vj] = T.max(", x, "[vi, vj], ",
                              Pick(read_only_), "[vi, vj])")});
}

// Reads neighbours that it writes, or has written.
void NestWriter::Stencil() {
  const std::string x = NewMatrix();
  Nest(Plane(), {absl::StrCat(x, "[vi, vj] = ", LoadOf(x), " + ",
                              Pick(read_only_), "[vi, vj]")});
}

void NestWriter::Largest() {
  const std::string a = absl::StrCat(Pick(read_only_), "[vi, vj]");
  const std::string index = absl::StrCat(Param("I", Rows(), "int32"), "[vi]");
  const std::string value = absl::StrCat(Param("Y", Rows(), dtype_), "[vi]");
  std::vector<Axis> axes = {MakeAxis("vi", "spatial", Rows()),
                            MakeAxis("vj", "reduce", absl::StrCat(m_))};
  Nest(std::move(axes),
       {"with T.init():", absl::StrCat("    ", index, " = -1"),
        absl::StrCat("    ", value, " = T.min_value(\"", dtype_, "\")"),
        absl::StrCat("at: T.int32 = T.Select(", value, " >= ", a, ", ", index,
                     ", T.Cast(\"int32\", vj))"),
        absl::StrCat("most: T.", dtype_, " = T.Select(", value, " >= ", a, ", ",
                     value, ", ", a, ")"),
        absl::StrCat(index, " = at"), absl::StrCat(value, " = most")});
}

}  // namespace kiln
