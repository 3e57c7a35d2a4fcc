// Nests beyond one block over a plane: blocks inside blocks, with views and
// buffers of their own; bodies that are loops; indices through variables and
// narrow types; predicates; results of other types. Guarded, for instance, may
// write
//
//   for i, j in T.grid(4, 6):
//       with T.block("B0"):
//           vi = T.axis.spatial(4, i)
//           vj = T.axis.spatial(6, j)
//           T.where((i + j) % 2 == 0)
//           X1[vi, vj] = A0[vi, vj]
//
// A kind is added as in nest_kinds.cc.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/testing/nest_writer.h"

namespace kiln {

// Tiles of rows, read and written through views; another tensor, or the same
// one that is written, is read beside them.
void NestWriter::RowViews() {
  if (symbolic_) return Nested();
  const std::string x = NewMatrix(), a = Pick(read_only_);
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= n_; ++d) {
    if (n_ % d == 0) divisors.push_back(d);
  }
  const int64_t rows = Pick(divisors);
  const std::string tile = absl::StrCat("[vo * ", rows, ":vo * ", rows, " + ",
                                        rows, ", 0:", m_, "]");
  const std::string view = absl::StrCat(", (", rows, ", ", m_, "), \"", dtype_,
                                        "\", strides=(\"p\", \"q\"), "
                                        "offset_factor=1)");
  const std::string beside =
      absl::StrCat(Chance(30) ? x : a, "[vo * ", rows, " + va, vc]");
  Line(0, absl::StrCat("for io in range(", n_ / rows, "):"));
  Line(1, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(2, absl::StrCat("vo = T.axis.spatial(", n_ / rows, ", io)"));
  if (Chance(60)) {
    Line(2, absl::StrCat("T.reads(", a, tile, ", ", x, tile, ")"));
    Line(2, absl::StrCat("T.writes(", x, tile, ")"));
  }
  Line(2, absl::StrCat("V = T.match_buffer(", a, tile, view));
  Line(2, absl::StrCat("W = T.match_buffer(", x, tile, view));
  Line(2, absl::StrCat("for a, c in T.grid(", rows, ", ", m_, "):"));
  Line(3, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(4, "va, vc = T.axis.remap(\"SS\", [a, c])");
  Line(4, absl::StrCat("W[va, vc] = V[va, ",
                       Chance(50) ? "vc" : absl::StrCat(m_ - 1, " - vc"),
                       "] + ", beside));
}

// Two views of one row, or a view and the row itself.
void NestWriter::AliasedViews() {
  const std::string x = NewMatrix(), a = Pick(read_only_);
  const int64_t shift = m_ > 1 && Chance(40) ? 1 : 0, length = m_ - shift;
  const auto row = [&](int64_t begin) {
    return absl::StrCat(" = T.match_buffer(", x, "[vi, ", begin, ":",
                        begin + length, "], (", length, ",), \"", dtype_,
                        "\", offset_factor=1)");
  };
  const std::vector<std::string> written = {"W[vc]",
                                            absl::StrCat(x, "[vi, vc]")},
                                 read = {
                                     "V[vc]",
                                     absl::StrCat("V[", length - 1, " - vc]"),
                                     absl::StrCat(x, "[vi, ", m_ - 1,
                                                  " - vc]")};
  const std::string type = Chance(60) ? "spatial" : "opaque";
  Line(0, absl::StrCat("for i in range(", Rows(), "):"));
  Line(1, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(2, absl::StrCat("vi = T.axis.spatial(", Rows(), ", i)"));
  Line(2, absl::StrCat("T.reads(", x, "[vi, 0:", m_, "], ", a, "[vi, 0:", m_,
                       "])"));
  Line(2, absl::StrCat("T.writes(", x, "[vi, 0:", m_, "])"));
  Line(2, absl::StrCat("V", row(shift)));
  Line(2, absl::StrCat("W", row(0)));
  Line(2, absl::StrCat("for c in range(", length, "):"));
  Line(3, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(4, absl::StrCat("vc = T.axis.", type, "(", length, ", c)"));
  Line(4, absl::StrCat(Pick(written), " = ", Pick(read), " + ", a, "[vi, vc]"));
}

// A row sum, a scan or a scatter inside the block of a row.
void NestWriter::Nested() {
  const std::string a = Pick(read_only_);
  const int64_t kind = Below(3);
  const std::string y = kind == 0 ? Param("Y", Rows(), dtype_) : NewMatrix();
  const std::string at =
      kind == 2 ? Param("S", absl::StrCat(m_), "int32", m_) : "";
  Line(0, absl::StrCat("for i in range(", Rows(), "):"));
  Line(1, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(2, absl::StrCat("vi = T.axis.spatial(", Rows(), ", i)"));
  Line(2, absl::StrCat("for j in range(", m_, "):"));
  Line(3, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(4, absl::StrCat("vj = T.axis.", kind == 0 ? "reduce" : "spatial", "(",
                       m_, ", j)"));
  const std::string load = absl::StrCat(a, "[vi, vj]");
  if (kind == 0) {
    Line(4, "with T.init():");
    Line(5, absl::StrCat(y, "[vi] = ", Const(0)));
    Line(4, absl::StrCat(y, "[vi] = ", y, "[vi] + ", load));
  } else if (kind == 1) {
    Line(4, absl::StrCat(y, "[vi, vj] = T.if_then_else(0 < vj, ", y,
                         "[vi, vj - 1], ", Const(1), ") + ", load));
  } else {
    Line(4, absl::StrCat(y, "[vi, ", at, "[vj]] = ", load));
  }
}

// A row of its own inside the block of a row.
void NestWriter::OwnBuffer() {
  const std::string x = NewMatrix(), a = Pick(read_only_);
  Line(0, absl::StrCat("for i in range(", Rows(), "):"));
  Line(1, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(2, absl::StrCat("vi = T.axis.spatial(", Rows(), ", i)"));
  Line(2, absl::StrCat("t = T.alloc_buffer((", m_, ",), \"", dtype_, "\")"));
  for (const bool fills : {true, false}) {
    Line(2, absl::StrCat("for j in range(", m_, "):"));
    Line(3, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
    Line(4, absl::StrCat("vj = T.axis.spatial(", m_, ", j)"));
    Line(4, fills ? absl::StrCat("t[vj] = ", a, "[vi, vj] + ", Const(2))
                  : absl::StrCat(x, "[vi, vj] = t[", m_ - 1, " - vj] + t[vj]"));
  }
}

// Loops and stores inside one block.
void NestWriter::Opaque() {
  const std::string x = NewMatrix(), a = Pick(read_only_);
  Line(0, absl::StrCat("for i in range(", Rows(), "):"));
  Line(1, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(2, absl::StrCat("vi = T.axis.spatial(", Rows(), ", i)"));
  const bool guarded = Chance(40);
  if (Chance(50)) {
    Line(2, absl::StrCat(x, "[vi, 0] = ", a, "[vi, 0]"));
    Line(2, absl::StrCat("for j in range(", m_ - 1, "):"));
    if (guarded) {
      Line(3, absl::StrCat("if ", Const(0), " < ", a, "[vi, j]:"));
    }
    return Line(3 + guarded, absl::StrCat(x, "[vi, j + 1] = ", x, "[vi, j] + ",
                                          a, "[vi, j + 1]"));
  }
  Line(2, absl::StrCat("for j in range(", m_, "):"));
  if (guarded) Line(3, "if (vi + j) % 2 == 0:");
  Line(3 + guarded, absl::StrCat(x, "[vi, ", m_ - 1, " - j] = ", a, "[vi, j]"));
}

void NestWriter::IndexLet() {
  const std::string x = NewMatrix(), value = Value();
  const std::vector<std::string> at = {
      absl::StrCat("T.Cast(\"int64\", (vj * 3 + 1) % ", m_, ")"),
      absl::StrCat("T.Cast(\"int64\", ",
                   Param("S", absl::StrCat(m_), "int32", m_), "[vj])"),
      absl::StrCat("T.Cast(\"int64\", ", m_ - 1, " - vj)")};
  Nest(Plane(), {absl::StrCat("at: T.int64 = ", Pick(at)),
                 absl::StrCat("x: T.", dtype_, " = ", value),
                 Chance(50) ? absl::StrCat(x, "[vi, at] = x")
                            : absl::StrCat(x, "[vi, vj] = x + ",
                                           Pick(read_only_), "[vi, at]")});
}

// Indices that wrap around, or meet, on their way.
void NestWriter::Wrapped() {
  const std::string x = NewMatrix(), value = Value();
  const std::vector<std::string> at = {
      absl::StrCat("T.Cast(\"int32\", T.Cast(\"uint8\", vj * 37)) % ", m_),
      absl::StrCat("T.min(T.bitwise_xor(T.Cast(\"int32\", vj), 1), ", m_ - 1,
                   ")"),
      "T.shift_right(T.Cast(\"int32\", vj), 1)",
      "T.bitwise_and(T.Cast(\"int32\", vj), 2) // 2 * 0",
      absl::StrCat("T.max(T.Cast(\"int32\", T.Cast(\"int8\", vj * 50)), 0) % ",
                   m_)};
  Nest(Plane(), {Chance(60) ? absl::StrCat(x, "[vi, ", Pick(at), "] = ", value)
                            : absl::StrCat(x, "[vi, vj] = ", Pick(read_only_),
                                           "[vi, ", Pick(at), "] + ", value)});
}

void NestWriter::Guarded() {
  const std::string x = NewMatrix(), value = Value();
  const std::vector<std::string> where = {
      absl::StrCat("i * ", m_, " + j < ", 1 + Below(n_ * m_)), "i <= j",
      "(i + j) % 2 == 0", "j < 3 or i < 2", "1 <= j"};
  Line(0, absl::StrCat("for i, j in T.grid(", Rows(), ", ", m_, "):"));
  Line(1, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  Line(2, absl::StrCat("vi = T.axis.spatial(", Rows(), ", i)"));
  Line(2, absl::StrCat("vj = T.axis.spatial(", m_, ", j)"));
  Line(2, absl::StrCat("T.where(", Pick(where), ")"));
  Line(2, absl::StrCat(x, "[vi, vj] = ", value));
}

// Columns up to a number that the row gives; vj has them, or all, as domain.
void NestWriter::Triangle() {
  const bool sums = Chance(30), narrow = Chance(60);
  const std::string rows = Rows(), a = Pick(read_only_);
  const std::string x = sums ? Param("Y", rows, dtype_) : NewMatrix();
  const std::string value = Value();
  const std::vector<std::string> ends = {
      absl::StrCat("i % ", m_, " + 1"), absl::StrCat("T.min(i + 1, ", m_, ")"),
      absl::StrCat(m_, " - i % ", m_), absl::StrCat("i % ", m_)};
  Line(0, absl::StrCat("for i in range(", rows, "):"));
  Line(1, absl::StrCat("for j in range(", Pick(ends), "):"));
  Line(2, absl::StrCat("with T.block(\"B", blocks_++, "\"):"));
  if (narrow) {
    Line(3, absl::StrCat("vi, vj = T.axis.remap(\"S", sums ? "R" : "S",
                         "\", [i, j])"));
  } else {
    Line(3, absl::StrCat("vi = T.axis.spatial(", rows, ", i)"));
    Line(3, absl::StrCat("vj = T.axis.", sums ? "reduce" : "spatial", "(", m_,
                         ", j)"));
  }
  if (!sums) return Line(3, absl::StrCat(x, "[vi, vj] = ", value));
  Line(3, "with T.init():");
  Line(4, absl::StrCat(x, "[vi] = ", Const(0)));
  Line(3, absl::StrCat(x, "[vi] = ", x, "[vi] + ", a, "[vi, vj]"));
}

void NestWriter::Compare() {
  const std::string mask = Param("M", absl::StrCat(Rows(), ", ", m_), "bool");
  const std::string a = Load(), b = Load();
  Nest(Plane(), {absl::StrCat(mask, "[vi, vj] = ", a, " < ", b)});
  const std::string x = NewMatrix();
  Nest(Plane(), {absl::StrCat(x, "[vi, vj] = T.Select(", mask, "[vi, vj], ",
                              Pick(read_only_), "[vi, vj], ", Const(3), ")")});
}

void NestWriter::WiderSum() {
  const std::string wide = float_ ? "float32" : "int32";
  const std::string y = Param("Y", Rows(), wide);
  const auto cast = [&] {
    return absl::StrCat("T.Cast(\"", wide, "\", ", Pick(read_only_),
                        "[vi, vj])");
  };
  const std::string product = absl::StrCat(cast(), " * ", cast());
  Nest({MakeAxis("vi", "spatial", Rows()),
        MakeAxis("vj", "reduce", absl::StrCat(m_))},
       {"with T.init():", absl::StrCat("    ", y, "[vi] = T.", wide, "(0)"),
        absl::StrCat(y, "[vi] = ", y, "[vi] + ", product)});
}

// A tensor of three dimensions.
void NestWriter::Cube() {
  const int64_t depth = 1 + Below(4);
  const std::string q =
      Param("Q", absl::StrCat(Rows(), ", ", m_, ", ", depth), dtype_);
  std::vector<Axis> axes = Plane();
  if (Chance(50)) {
    axes.push_back(MakeAxis("vk", "spatial", absl::StrCat(depth)));
    return Nest(std::move(axes), {absl::StrCat(q, "[vi, vj, vk] = ", Value())},
                /*may_be_parallel=*/true);
  }
  const std::string x = NewMatrix();
  Nest(std::move(axes),
       {absl::StrCat(x, "[vi, vj] = ", q, "[vi, vj, 0] + ", q, "[vi, ", m_ - 1,
                     " - vj, ", depth - 1, "]")});
}

}  // namespace kiln
