// Tensor functions that are no formulas: nests of loops one after the other,
// each around a block that may read what it wrote before.
//
//   NestBuilder b(inputs);
//   const Buffer out = b.Output(x.shape(), x.dtype(), "cumsum");
//   b.Nest("cumsum", {{rows, IterType::kSpatial}, {n, IterType::kOpaque}},
//          [&](const std::vector<Expr>& i) { return MakeStore(out, ..., i); });
//   return Lowered(b.Finish());
//
// Loops run in order from 0; an iterator that is not spatial makes its order
// part of the meaning.
#ifndef KILN_IR_OPS_NEST_BUILDER_H_
#define KILN_IR_OPS_NEST_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

struct NestLoop {
  Expr extent;
  IterType type = IterType::kSpatial;
};

class NestBuilder {
 public:
  // A function whose first parameters are the inputs.
  explicit NestBuilder(const std::vector<te::Tensor>& inputs);

  Buffer Output(std::vector<Expr> shape, DType dtype, std::string name);
  // One that lives while the function runs.
  Buffer Temporary(std::vector<Expr> shape, DType dtype, std::string name);

  using Body = FunctionRef<Stmt(const std::vector<Expr>&)>;
  // Adds loops around a block; the body is given its iterators.
  void Nest(std::string name, const std::vector<NestLoop>& loops, Body body);
  // The same, where `init` runs ahead of the first of the reduce iterators, and
  // alone where one of them has the extent 0.
  void Reduce(std::string name, const std::vector<NestLoop>& loops, Body init,
              Body body);
  // For bodies: a loop over the lanes of vectors, or the one iteration.
  Stmt Vectorized(int64_t lanes, FunctionRef<Stmt(const Expr&)> body);
  // A spatial one over all of `out`: out[i] = value(i).
  void Fill(const Buffer& out,
            FunctionRef<Expr(const std::vector<Expr>&)> value);

  Function Finish();

 private:
  void Add(BlockFields block, const std::vector<NestLoop>& loops);

  Function function_;
  std::vector<Buffer> temporaries_;
  std::vector<Stmt> nests_;
};

// A loop for each extent, all spatial or all in order.
std::vector<NestLoop> LoopsOver(const std::vector<Expr>& extents,
                                IterType type = IterType::kSpatial);

}  // namespace kiln

#endif  // KILN_IR_OPS_NEST_BUILDER_H_
