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
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/check.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// An iterator of a block with its loops: `binding` in terms of their variables.
struct Axis {
  std::string name;    // vi
  std::string type;    // spatial, reduce or opaque
  std::string extent;  // 7 or n
  std::vector<std::pair<std::string, std::string>> loops;  // variable, extent
  std::string binding;                                     // i, or i0 * 4 + i1
  std::string where;  // what binding < extent needs, if anything
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}
  NestProgram Run(uint64_t seed);

 private:
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  const T& Pick(const std::vector<T>& all) {
    return all[Below(static_cast<int64_t>(all.size()))];
  }

  std::string Const(int64_t halves) const;
  std::string Rows() const { return symbolic_ ? "n" : absl::StrCat(n_); }
  std::string Param(const char* prefix, const std::string& shape,
                    const std::string& dtype, int64_t below = 0);
  std::string NewMatrix();  // a parameter that nests write

  // --- Expressions over vi and vj.
  std::string Load();
  std::string LoadOf(const std::string& matrix);
  std::string Value();
  std::string Condition();

  // --- Nests.
  Axis MakeAxis(const std::string& name, std::string type,
                const std::string& extent);
  void Line(int depth, const std::string& text);
  void Nest(std::vector<Axis> axes, const std::vector<std::string>& body,
            bool may_be_parallel = false);
  std::vector<Axis> Plane(int64_t rows_less = 0, int64_t columns_less = 0);
  void Map(), Part(), Scatter(), Repeated(), Accumulate(), Reduce(), Product(),
      TwoStores(), Conditional(), Histogram(), Scan(), Update(), Stencil(),
      Largest();
  void AddNest();

  std::mt19937_64 random_;
  std::string dtype_;
  bool float_ = true, symbolic_ = false;
  int64_t n_ = 1, m_ = 1;
  std::vector<std::string> params_;
  std::vector<int64_t> below_;          // of indices, 0: any numbers
  std::vector<std::string> read_only_;  // matrices
  std::vector<std::string> written_;    // matrices that hold something
  std::vector<std::string> allocations_;
  std::string lines_;
  int names_ = 0, blocks_ = 0;
};

std::string Writer::Const(int64_t halves) const {
  if (float_) {
    return absl::StrCat("T.", dtype_, "(",
                        absl::StrCat(static_cast<double>(halves) * 0.5), ")");
  }
  return absl::StrCat("T.", dtype_, "(", halves < 0 ? -halves : halves, ")");
}

std::string Writer::Param(const char* prefix, const std::string& shape,
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

std::string Writer::NewMatrix() {
  written_.push_back(Param("X", absl::StrCat(Rows(), ", ", m_), dtype_));
  return written_.back();
}

std::string Writer::LoadOf(const std::string& x) {
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

std::string Writer::Load() {
  std::vector<std::string> all = read_only_;
  all.insert(all.end(), written_.begin(), written_.end());
  const std::string& x = Pick(all);
  return Chance(45) ? absl::StrCat(x, "[vi, vj]") : LoadOf(x);
}

std::string Writer::Condition() {
  switch (Below(4)) {
    case 0:
      return absl::StrCat("vi + vj < ", n_);
    case 1:
      return absl::StrCat("(vi + vj) % 2 == 0");
    case 2:
      return absl::StrCat("0 < vj and vj < ", m_ - 1);
    default:
      return absl::StrCat(Const(0), " < ", Pick(read_only_), "[vi, vj]");
  }
}

std::string Writer::Value() {
  const std::string a = Load();
  switch (Below(7)) {
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
    default:
      return float_ ? absl::StrCat(a, " * ", Const(1), " + ", Load())
                    : absl::StrCat("T.min(", a, ", ", Const(3), ")");
  }
}

Axis Writer::MakeAxis(const std::string& name, std::string type,
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

void Writer::Line(int depth, const std::string& text) {
  absl::StrAppend(&lines_, std::string(4 * (depth + 2), ' '), text, "\n");
}

void Writer::Nest(std::vector<Axis> axes, const std::vector<std::string>& body,
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
std::vector<Axis> Writer::Plane(int64_t rows_less, int64_t columns_less) {
  const std::string rows =
      symbolic_ ? "n" : absl::StrCat(std::max<int64_t>(1, n_ - rows_less));
  const std::string columns =
      absl::StrCat(std::max<int64_t>(1, m_ - columns_less));
  return {MakeAxis("vi", "spatial", rows), MakeAxis("vj", "spatial", columns)};
}

void Writer::Map() {
  const std::string value = Value();
  const std::string name = absl::StrCat("T", names_++);
  allocations_.push_back(absl::StrCat(name, " = T.alloc_buffer((", Rows(), ", ",
                                      m_, "), \"", dtype_, "\")"));
  Nest(Plane(), {absl::StrCat(name, "[vi, vj] = ", value)},
       /*may_be_parallel=*/true);
  written_.push_back(name);
}

// Rows and columns from the second on.
void Writer::Part() {
  const std::string x = NewMatrix();
  if (symbolic_ || n_ == 1) return Update();
  std::string value = absl::StrCat(Pick(read_only_), "[vi + 1, vj]");
  Nest(Plane(1, 0),
       {absl::StrCat(x, "[vi + 1, vj] = ", value, " + ", x, "[vi, vj]")});
}

void Writer::Scatter() {
  const std::string x = NewMatrix(), value = Value();
  const std::string at = Param("S", absl::StrCat(m_), "int32", m_);
  Nest(Plane(), {absl::StrCat(x, "[vi, ", at, "[vj]] = ", value)});
}

// Many iterations write one element; the last one stays.
void Writer::Repeated() {
  const std::string x = NewMatrix(), value = Value();
  const std::vector<std::string> at = {
      "vi, vj // 2", "vi, vj % 2", "vi, 0",
      absl::StrCat("vi, T.min(vj, ", m_ / 2, ")"),
      absl::StrCat("vi, (vj * 2) % ", m_)};
  Nest(Plane(),
       {absl::StrCat(x, "[", m_ > 1 ? Pick(at) : "vi, 0", "] = ", value)});
}

void Writer::Accumulate() {
  const std::string x = NewMatrix();
  std::vector<Axis> axes = {
      MakeAxis("vi", "spatial", Rows()),
      MakeAxis("vj", Chance(80) ? "reduce" : "spatial", absl::StrCat(m_))};
  Nest(std::move(axes),
       {absl::StrCat(x, "[vi, ", m_ - 1, "] = ", x, "[vi, ", m_ - 1, "] + ",
                     Pick(read_only_), "[vi, vj]")});
}

void Writer::Reduce() {
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

void Writer::Product() {
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

void Writer::TwoStores() {
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

void Writer::Conditional() {
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

void Writer::Histogram() {
  const std::string y = Param("Y", absl::StrCat(m_), dtype_);
  const std::string at = absl::StrCat(
      y, "[", Param("H", absl::StrCat(Rows(), ", ", m_), "int32", m_),
      "[vi, vj]]");
  const std::string type = Chance(70) ? "reduce" : "spatial";
  Nest({MakeAxis("vi", type, Rows()), MakeAxis("vj", type, absl::StrCat(m_))},
       {absl::StrCat(at, " = ", at, " + ", Const(2))});
}

void Writer::Scan() {
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

void Writer::Update() {
  const std::string x = written_.empty() ? NewMatrix() : Pick(written_);
  Nest(Plane(), {absl::StrCat(x, "[vi, vj] = T.max(", x, "[vi, vj], ",
                              Pick(read_only_), "[vi, vj])")});
}

// Reads neighbours that it writes, or has written.
void Writer::Stencil() {
  const std::string x = NewMatrix();
  Nest(Plane(), {absl::StrCat(x, "[vi, vj] = ", LoadOf(x), " + ",
                              Pick(read_only_), "[vi, vj]")});
}

void Writer::Largest() {
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

void Writer::AddNest() {
  using Kind = void (Writer::*)();
  static const std::vector<Kind> kinds = {
      &Writer::Map,        &Writer::Map,       &Writer::Map,
      &Writer::Part,       &Writer::Scatter,   &Writer::Repeated,
      &Writer::Accumulate, &Writer::Reduce,    &Writer::Reduce,
      &Writer::Product,    &Writer::TwoStores, &Writer::Conditional,
      &Writer::Histogram,  &Writer::Scan,      &Writer::Update,
      &Writer::Stencil,    &Writer::Largest};
  (this->*Pick(kinds))();
}

NestProgram Writer::Run(uint64_t seed) {
  static const std::vector<std::string> types = {
      "float32", "float32", "float32", "float64", "float16",
      "int8",    "uint8",   "int16",   "int32",   "int64"};
  dtype_ = Pick(types);
  float_ = dtype_[0] == 'f';
  symbolic_ = Chance(10);
  n_ = 1 + Below(9);
  m_ = 1 + Below(17);
  const int64_t inputs = 1 + Below(2);
  for (int64_t i = 0; i < inputs; ++i) {
    read_only_.push_back(Param("A", absl::StrCat(Rows(), ", ", m_), dtype_));
  }
  for (int64_t nests = 1 + Below(4); nests > 0; --nests) AddNest();
  // What nobody would see is copied to a parameter.
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
  program.inputs = RandomInputs(program.function, seed, /*symbol=*/n_);
  for (size_t p = 0; p < below_.size(); ++p) {
    if (below_[p] == 0) continue;
    Tensor& t = program.inputs[p];
    for (int64_t i = 0; i < t.size(); ++i) t.SetInt(i, Below(below_[p]));
  }
  return program;
}

}  // namespace

NestProgram RandomNests(uint64_t seed) { return Writer(seed).Run(seed); }

}  // namespace kiln
