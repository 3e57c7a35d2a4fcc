// A transform is one block with a store for each of its results, written out:
// of F(2, 3)
//
//   for t, c in T.grid(49, 64):
//       with T.block("winograd_input"):
//           ...
//           V[t, 0, c] = x[...] - x[...] - (x[...] - x[...])
//           V[t, 1, c] = ...
//
// so that sums which several results have in common are computed once by the
// compiler, and vectors run along the channels. Elements outside of the image
// are read as 0; results outside of it are not stored.
#include "kiln/ir/transform/graph/winograd/transforms.h"

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/ops/call_te.h"
#include "kiln/ir/ops/nest_builder.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/transform/graph/winograd/matrices.h"

namespace kiln {
namespace {

const DType kFloat = DType::Float(32);

Expr CeilDiv(const Expr& a, int64_t b) {
  Analyzer analyzer;
  return analyzer.Simplify(FloorDiv(a + Int(b - 1), Int(b)));
}

Expr Scaled(double factor, const Expr& term) {
  return factor == 1 ? term : Constant(factor, kFloat) * term;
}

// The sum of terms by their factors.
Expr Combined(const std::vector<double>& factors,
              const std::vector<Expr>& terms) {
  Expr sum;
  for (size_t i = 0; i < terms.size(); ++i) {
    const double factor = factors[i];
    if (factor == 0) continue;
    if (!sum) {
      sum = Scaled(factor, terms[i]);
    } else {
      sum = factor > 0 ? sum + Scaled(factor, terms[i])
                       : sum - Scaled(-factor, terms[i]);
    }
  }
  return sum;
}

// The elements of matrix * D * matrix^T, row by row, where element (i, j) of D
// is at(i, j).
std::vector<Expr> Transformed(const Matrix& matrix,
                              FunctionRef<Expr(int, int)> at) {
  const auto size = static_cast<int>(matrix[0].size());
  std::vector<Expr> results;
  for (const std::vector<double>& of_rows : matrix) {
    std::vector<Expr> columns;
    for (int j = 0; j < size; ++j) {
      std::vector<Expr> column;
      for (int i = 0; i < size; ++i) column.push_back(at(i, j));
      columns.push_back(Combined(of_rows, column));
    }
    for (const std::vector<double>& of_columns : matrix) {
      results.push_back(Combined(of_columns, columns));
    }
  }
  return results;
}

// Whether position `at`, `ahead` elements of padding included, lies in the
// image; the first condition holds by itself where `is_behind`.
Expr IsInside(const Expr& at, const Expr& extent, bool is_behind) {
  const Expr is_before_end = LT(at, extent);
  return is_behind ? is_before_end : And(LE(Int(0), at), is_before_end);
}

// What tile `t` is made of.
struct TileOf {
  Expr image, row, column;
};

TileOf TileAt(const TiledConvolution& conv, const Expr& t) {
  const Expr rows = conv.tile_rows(), columns = conv.tile_columns();
  TileOf tile = {Int(0), FloorDiv(t, columns), FloorMod(t, columns)};
  if (IsOne(conv.batch)) return tile;
  tile.image = FloorDiv(tile.row, rows);
  tile.row = FloorMod(tile.row, rows);
  return tile;
}

int64_t NumPoints(const TiledConvolution& conv) {
  const int64_t size = WinogradMatricesOf(conv.tile).size();
  return size * size;
}

// With a point that nothing reads or writes: of 16 points by 2^n channels the
// tiles would lie at multiples of a power of two, in few sets of a cache.
std::vector<Expr> TransformedShape(const TiledConvolution& conv,
                                   int64_t channels) {
  return {conv.tiles(), Int(NumPoints(conv) + 1), Int(channels)};
}

std::vector<Expr> ResultShape(const TiledConvolution& conv) {
  return {conv.batch, conv.out_height, conv.out_width, Int(conv.out_channels)};
}

// The element of `x` that is (i, j) of the tile; 0 outside of the image.
Expr ElementOfTile(const TiledConvolution& conv, const te::Tensor& x,
                   const TileOf& tile, const Expr& channel, int i, int j) {
  const Expr h = tile.row * Int(conv.tile) + Int(i - conv.above);
  const Expr w = tile.column * Int(conv.tile) + Int(j - conv.left);
  const Expr is_inside = And(IsInside(h, conv.height, i >= conv.above),
                             IsInside(w, conv.width, j >= conv.left));
  return Call(kFloat, Intrinsic::kIfThenElse,
              {is_inside, x(tile.image, h, w, channel), Constant(0, kFloat)});
}

}  // namespace

Expr TiledConvolution::tile_rows() const { return CeilDiv(out_height, tile); }

Expr TiledConvolution::tile_columns() const { return CeilDiv(out_width, tile); }

Expr TiledConvolution::tiles() const {
  Analyzer analyzer;
  return analyzer.Simplify(batch * tile_rows() * tile_columns());
}

absl::StatusOr<graph::Expr> CallInputTransform(const TiledConvolution& conv,
                                               const graph::Expr& x,
                                               Module& module) {
  KILN_ASSIGN_OR_RETURN(const te::Tensor data,
                        PlaceholderFor(graph::InfoOf(x), "x"));
  const Expr channels = Int(conv.in_channels);
  const std::vector<Expr> shape = TransformedShape(conv, conv.in_channels);
  NestBuilder builder({data});
  const Buffer out = builder.Output(shape, kFloat, "V");
  builder.Nest("winograd_input", {{conv.tiles()}, {channels}},
               [&](const std::vector<Expr>& at) {
                 const TileOf tile = TileAt(conv, at[0]);
                 const std::vector<Expr> values = Transformed(
                     WinogradMatricesOf(conv.tile).input, [&](int i, int j) {
                       return ElementOfTile(conv, data, tile, at[1], i, j);
                     });
                 std::vector<Stmt> stores;
                 for (const Expr& value : values) {
                   const Expr p = Int(static_cast<int64_t>(stores.size()));
                   stores.push_back(MakeStore(out, value, {at[0], p, at[1]}));
                 }
                 return MakeSeq(std::move(stores));
               });
  return CallLowered("winograd_input", {x}, {data}, Lowered(builder.Finish()),
                     {graph::Tensor(shape, kFloat)}, module);
}

absl::StatusOr<graph::Expr> CallProducts(const TiledConvolution& conv,
                                         const graph::Expr& inputs,
                                         const graph::Expr& kernels,
                                         Module& module) {
  const std::vector<Expr> shape = TransformedShape(conv, conv.out_channels);
  const Expr points = Int(NumPoints(conv)), in = Int(conv.in_channels),
             out = Int(conv.out_channels);
  const te::Tensor v =
      te::Placeholder(TransformedShape(conv, conv.in_channels), kFloat, "V");
  const te::Tensor u = te::Placeholder({points, in, out}, kFloat, "U");
  NestBuilder builder({v, u});
  const Buffer m = builder.Output(shape, kFloat, "M");
  const auto element = [](const std::vector<Expr>& at) {
    return std::vector<Expr>{at[0], at[1], at[2]};
  };
  builder.Reduce(
      "winograd_product",
      {{conv.tiles()}, {points}, {out}, {in, IterType::kReduce}},
      [&](const std::vector<Expr>& at) {
        return MakeStore(m, Constant(0, kFloat), element(at));
      },
      [&](const std::vector<Expr>& at) {
        const Expr product = v(at[0], at[1], at[3]) * u(at[1], at[3], at[2]);
        return MakeStore(m, Load(m, element(at)) + product, element(at));
      });
  return CallLowered("winograd_product", {inputs, kernels}, {v, u},
                     Lowered(builder.Finish()), {graph::Tensor(shape, kFloat)},
                     module);
}

absl::StatusOr<graph::Expr> CallOutputTransform(const TiledConvolution& conv,
                                                const graph::Expr& products,
                                                Module& module) {
  const te::Tensor m =
      te::Placeholder(TransformedShape(conv, conv.out_channels), kFloat, "M");
  const WinogradMatrices& matrices = WinogradMatricesOf(conv.tile);
  NestBuilder builder({m});
  const Buffer out = builder.Output(ResultShape(conv), kFloat, "y");
  const auto body = [&](const std::vector<Expr>& at) {
    const Expr tile =
        (at[0] * conv.tile_rows() + at[1]) * conv.tile_columns() + at[2];
    const std::vector<Expr> values =
        Transformed(matrices.output, [&](int i, int j) {
          return m(tile, Int(i * matrices.size() + j), at[3]);
        });
    std::vector<Stmt> stores;
    for (const Expr& value : values) {
      const auto result = static_cast<int64_t>(stores.size());
      const Expr h = at[1] * Int(conv.tile) + Int(result / conv.tile);
      const Expr w = at[2] * Int(conv.tile) + Int(result % conv.tile);
      const Expr is_inside = And(LT(h, conv.out_height), LT(w, conv.out_width));
      stores.push_back(
          MakeIf(is_inside, MakeStore(out, value, {at[0], h, w, at[3]})));
    }
    return MakeSeq(std::move(stores));
  };
  builder.Nest("winograd_output",
               {{conv.batch},
                {conv.tile_rows()},
                {conv.tile_columns()},
                {Int(conv.out_channels)}},
               body);
  return CallLowered("winograd_output", {products}, {m},
                     Lowered(builder.Finish()),
                     {graph::Tensor(ResultShape(conv), kFloat)}, module);
}

absl::StatusOr<graph::Expr> TransformedKernel(const TiledConvolution& conv,
                                              const graph::ConstantNode& taps) {
  const WinogradMatrices& matrices = WinogradMatricesOf(conv.tile);
  const int64_t size = matrices.size();
  const int64_t each = conv.in_channels * conv.out_channels;
  std::vector<float> from(kWinogradTaps * kWinogradTaps * each);
  std::memcpy(from.data(), taps.data->data(), from.size() * sizeof(float));
  std::vector<float> to(size * size * each);
  for (int64_t p = 0; p < size * size; ++p) {
    const std::vector<double>& of_rows = matrices.kernel[p / size];
    const std::vector<double>& of_columns = matrices.kernel[p % size];
    for (int64_t e = 0; e < each; ++e) {
      double sum = 0;
      for (int r = 0; r < kWinogradTaps; ++r) {
        for (int s = 0; s < kWinogradTaps; ++s) {
          sum += of_rows[r] * of_columns[s] *
                 from[(r * kWinogradTaps + s) * each + e];
        }
      }
      to[p * each + e] = static_cast<float>(sum);
    }
  }
  KILN_ASSIGN_OR_RETURN(Blob data,
                        Blob::Copy({reinterpret_cast<const char*>(to.data()),
                                    to.size() * sizeof(float)}));
  return graph::Expr(new graph::ConstantNode(
      kFloat, {size * size, conv.in_channels, conv.out_channels},
      std::move(data)));
}

}  // namespace kiln
