// The text of random nests, one after the other. Internal to random_nests.
#ifndef KILN_IR_TESTING_NEST_WRITER_H_
#define KILN_IR_TESTING_NEST_WRITER_H_

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/testing/random_nests.h"

namespace kiln {

// An iterator of a block with its loops: `binding` in terms of their variables.
struct Axis {
  std::string name;    // vi
  std::string type;    // spatial, reduce or opaque
  std::string extent;  // 7 or n
  std::vector<std::pair<std::string, std::string>> loops;  // variable, extent
  std::string binding;                                     // i, or i0 * 4 + i1
  std::string where;  // what binding < extent needs, if anything
};

class NestWriter {
 public:
  explicit NestWriter(uint64_t seed) : random_(seed) {}
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
  std::string Scalar(const std::string& dtype);  // a parameter

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
  // nest_wide.cc: views, blocks in blocks, opaque bodies, lets, other types.
  void RowViews(), AliasedViews(), Nested(), OwnBuffer(), Opaque(), IndexLet(),
      Wrapped(), Guarded(), Triangle(), Compare(), WiderSum(), Cube();
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

}  // namespace kiln

#endif  // KILN_IR_TESTING_NEST_WRITER_H_
