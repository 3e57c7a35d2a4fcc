// The matrices of Winograd's convolutions with three taps, F(m, 3): m results
// from m + 2 elements by m + 2 products, where the sums themselves take 3 m.
//
//   y = output (kernel g * input d)        of vectors, * by elements
//   Y = output (kernel G kernel^T * input D input^T) output^T
//
// In two dimensions F(2, 3) takes 16 products for 36, F(4, 3) takes 36 for 144.
// A. Lavin, S. Gray, "Fast algorithms for convolutional neural networks", 2016.
#ifndef KILN_IR_TRANSFORM_GRAPH_WINOGRAD_MATRICES_H_
#define KILN_IR_TRANSFORM_GRAPH_WINOGRAD_MATRICES_H_

#include <vector>

namespace kiln {

using Matrix = std::vector<std::vector<double>>;

inline constexpr int kWinogradTaps = 3;

struct WinogradMatrices {
  int tile;       // m: results
  Matrix input;   // (m + 2, m + 2)
  Matrix kernel;  // (m + 2, 3)
  Matrix output;  // (m, m + 2)
  int size() const { return tile + kWinogradTaps - 1; }
};

// `tile` is 2 or 4.
const WinogradMatrices& WinogradMatricesOf(int tile);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_WINOGRAD_MATRICES_H_
