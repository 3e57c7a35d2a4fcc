// What a random graph function has at hand while it is written.
#ifndef KILN_TESTS_GRAPH_FUZZ_SCENE_H_
#define KILN_TESTS_GRAPH_FUZZ_SCENE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/random.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

// A tensor under a name.
struct FuzzValue {
  std::string name;
  graph::StructInfo info;  // of a tensor whose extents and type are known
  double bound = 1;        // of its elements, whatever the arguments are
  bool exact = true;       // no rounding stands behind an element

  const graph::TensorInfo& tensor() const {
    return *info.As<graph::TensorInfo>();
  }
  int rank() const { return tensor().rank; }
  DType dtype() const { return tensor().dtype; }
  const std::vector<Expr>& extents() const { return *tensor().extents(); }
};

// What an operand has to be.
struct Wanted {
  enum class Kind { kAny, kFloat, kInteger, kBool, kNumber };
  Kind kind = Kind::kAny;
  int rank = -1;  // any
  int min_rank = 0;
  DType dtype;  // void: any
  bool exact = false;
  bool has_elements = false;  // certainly
};

class Scene {
 public:
  explicit Scene(uint64_t seed) : random_(seed) {}

  int64_t Below(int64_t n);
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  const T& One(const std::vector<T>& of) {
    return of[Below(static_cast<int64_t>(of.size()))];
  }

  std::string NewName(const char* prefix);
  // A further parameter, elements in [-2, 2]: R.Tensor((2, "n"), ...).
  FuzzValue NewParam(const std::string& info);
  // Symbolic dimensions of the function, by name.
  std::vector<std::string> dims;
  std::vector<FuzzValue> values;
  std::vector<std::string> params;  // p0: R.Tensor((2, "n"), dtype="int32")

  // A value of the kind, later ones more often; nullopt where there is none.
  std::optional<FuzzValue> Some(const Wanted& wanted);

  // What `call` of `operands`, and of a further parameter, gives by inference;
  // null where it is refused.
  graph::StructInfo Infer(const std::string& call,
                          const std::vector<FuzzValue>& operands,
                          const std::string& param = "") const;
  // "    n = T.int64()\n" of each dimension.
  std::string Declarations() const;

 private:
  Random random_;
  int names_ = 0;
};

// R.Tensor((2, "n * 2"), dtype="float32"), as a parameter has it.
std::string ParamText(const graph::StructInfo& info);
// n * 2
std::string ExtentText(const Expr& extent);
bool IsKnownTensor(const graph::StructInfo& info);

}  // namespace kiln

#endif  // KILN_TESTS_GRAPH_FUZZ_SCENE_H_
