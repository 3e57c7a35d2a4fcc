// Tensor functions that ops become where no formula does: loops that carry
// values along, or write where data says. They are scripts with blanks:
//
//   Script script;
//   script.Param("x", in[0].shape(), in[0].dtype());
//   script.Param("y", in[0].shape(), in[0].dtype());
//   script.Set("n", in[0].shape()[0]).Set("factor", "2.0");
//   script.Read(R"(
//   for i in range($n):
//       with T.block("scale"):
//           v_i = T.axis.spatial($n, i)
//           y[v_i] = x[v_i] * T.float32($factor))")
#ifndef KILN_IR_OPS_SCRIPT_H_
#define KILN_IR_OPS_SCRIPT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {

class Script {
 public:
  // The next parameter. Extents are constants or variables; a variable that no
  // parameter has alone cannot be used.
  Script& Param(std::string name, const std::vector<Expr>& extents,
                DType dtype);
  // What "$name" stands for; longer names first where one begins another.
  Script& Set(std::string name, std::string text);
  Script& Set(std::string name, int64_t value);
  Script& Set(std::string name, const Expr& extent);
  Script& SetReal(std::string name, double value);

  // A number that reads back as it is.
  static std::string RealText(double value);
  // How the script calls an extent.
  std::string Spelled(const Expr& extent);

  // The function with this body, lines without a common indentation.
  // Unimplemented where an extent is neither a constant nor a variable.
  absl::StatusOr<Function> Read(std::string_view body) const;

 private:
  std::string header_, matches_;
  std::vector<const VarNode*> dims_;
  std::vector<std::pair<std::string, std::string>> values_;
  bool is_spelled_ = true;
};

}  // namespace kiln

#endif  // KILN_IR_OPS_SCRIPT_H_
