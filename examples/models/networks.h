// The networks, each for any sizes: those by default are the published ones.
// Extents called "n" (images, sequences), "t" (tokens) and "l" (tokens that a
// cache holds) may be left open in graph functions.
#ifndef KILN_EXAMPLES_MODELS_NETWORKS_H_
#define KILN_EXAMPLES_MODELS_NETWORKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/examples/models/network.h"

namespace kiln::models {

// Residual blocks of three convolutions, with the strides in those of 3 x 3
// (v1.5): He et al. 2015, arXiv:1512.03385, table 1.
//
//   image (n, 3, image, image) -> (n, classes)
struct ResNetSizes {
  int64_t batch = 1, image = 224;  // a multiple of 32
  int64_t width = 64;              // of the first block, doubled by each stage
  std::vector<int64_t> blocks = {3, 4, 6, 3};
  int64_t classes = 1000;
};
Network ResNet(const ResNetSizes& sizes);

// Inverted residual blocks: Sandler et al. 2018, arXiv:1801.04381, table 2.
//
//   image (n, 3, image, image) -> (n, classes)
struct MobileNetSizes {
  struct Stage {
    int64_t expansion, out, blocks, stride;
  };
  int64_t batch = 1, image = 224;  // a multiple of 32
  int64_t stem = 32, last = 1280;
  std::vector<Stage> stages = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                               {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                               {6, 320, 1, 1}};
  int64_t classes = 1000;
};
Network MobileNet(const MobileNetSizes& sizes);

// An encoder with embeddings, without a mask or a pooler: Devlin et al. 2018,
// arXiv:1810.04805. MiniLM-6 is one of 6 layers, 384 wide (Wang et al. 2020,
// arXiv:2002.10957).
//
//   ids (n, t) -> (n, t, hidden)
struct EncoderSizes {
  int64_t batch = 1, tokens = 128;
  int64_t layers = 12, hidden = 768, heads = 12, inner = 3072;
  int64_t vocabulary = 30522, positions = 512;
};
EncoderSizes MiniLmSizes();
Network Encoder(const EncoderSizes& sizes);

// A decoder that reads one more token: Radford et al. 2019 (GPT-2 small).
//
//   ids, positions (n, 1), and of each layer keys and values (n, heads, l, e)
//   -> logits (n, 1, vocabulary), and keys and values (n, heads, l + 1, e)
struct DecoderSizes {
  int64_t batch = 1, length = 128;
  int64_t layers = 12, hidden = 768, heads = 12, inner = 3072;
  int64_t vocabulary = 50257, positions = 1024;
};
Network Decoder(const DecoderSizes& sizes);

// Down and up again, with what each level saw beside what comes back to it:
// Ronneberger et al. 2015, arXiv:1505.04597, padded, with batch norms.
//
//   image (n, 3, image, image) -> (n, classes, image, image)
struct UNetSizes {
  int64_t batch = 1, image = 128;  // a multiple of 2^depth
  int64_t width = 32,
          depth = 4;  // channels of the first level, doubled by each
  int64_t classes = 2;
  bool resizes = false;  // upwards by resizing and a convolution of 3 x 3, and
                         // not by a transposed one
};
Network UNet(const UNetSizes& sizes);

}  // namespace kiln::models

#endif  // KILN_EXAMPLES_MODELS_NETWORKS_H_
