#include "absl/strings/str_cat.h"
#include "kiln/examples/models/networks.h"

namespace kiln::models {
namespace {

constexpr double kEncoderEpsilon = 1e-12, kDecoderEpsilon = 1e-5;
constexpr double kHalved = 2;  // behind a GELU

// --- The encoder: norms behind each sum.

Value SelfAttention(Network& net, Value x, const std::string& name,
                    int64_t heads) {
  const int64_t hidden = net.shape(x).back();
  const auto headed = [&](const char* what) {
    return net.SplitHeads(net.Dense(x, name + what, hidden), heads);
  };
  const Value q = headed("_query"), k = headed("_key"), v = headed("_value");
  return net.Dense(net.Attention(q, k, v), name + "_output", hidden);
}

Value EncoderLayer(Network& net, Value x, const std::string& name,
                   const EncoderSizes& sizes) {
  const auto add_and_norm = [&](Value y, const char* what) {
    return net.LayerNorm(net.Add(y, x), name + what, kEncoderEpsilon);
  };
  x = add_and_norm(SelfAttention(net, x, name + "_attention", sizes.heads),
                   "_attention_norm");
  Value y = net.Dense(x, name + "_inner", sizes.inner);
  y = net.Apply(Activation::kGelu, y);
  y = net.Dense(y, name + "_outer", sizes.hidden, kHalved);
  return add_and_norm(y, "_norm");
}

// --- The decoder: norms ahead of each branch.

struct Cached {
  Value keys, values;
};

Value CachedAttention(Network& net, Value x, const std::string& name,
                      int64_t heads, Cached& cache) {
  const int64_t hidden = net.shape(x).back();
  const Value joint = net.Dense(x, name + "_qkv", 3 * hidden);
  const auto headed = [&](int64_t part) {
    return net.SplitHeads(net.Part(joint, 3, part), heads);
  };
  cache.keys = net.Concat({cache.keys, headed(1)}, 2);
  cache.values = net.Concat({cache.values, headed(2)}, 2);
  const Value y = net.Attention(headed(0), cache.keys, cache.values);
  return net.Dense(y, name + "_output", hidden);
}

Value DecoderLayer(Network& net, Value x, const std::string& name,
                   const DecoderSizes& sizes, Cached& cache) {
  const auto normed = [&](const char* what) {
    return net.LayerNorm(x, name + what, kDecoderEpsilon);
  };
  x = net.Add(CachedAttention(net, normed("_attention_norm"),
                              name + "_attention", sizes.heads, cache),
              x);
  Value y = net.Dense(normed("_norm"), name + "_inner", sizes.inner);
  y = net.Apply(Activation::kGeluTanh, y);
  return net.Add(net.Dense(y, name + "_outer", sizes.hidden, kHalved), x);
}

}  // namespace

EncoderSizes MiniLmSizes() {
  EncoderSizes sizes;
  sizes.layers = 6;
  sizes.hidden = 384;
  sizes.inner = 1536;
  return sizes;
}

Network Encoder(const EncoderSizes& sizes) {
  Network net("encoder");
  const Value ids = net.Ids("ids", {{sizes.batch, "n"}, {sizes.tokens, "t"}},
                            sizes.vocabulary);
  Value x = net.Embedding(ids, "words", sizes.vocabulary, sizes.hidden);
  x = net.AddRow(net.AddPositions(x, "positions", sizes.positions), "type");
  x = net.LayerNorm(x, "embedding_norm", kEncoderEpsilon);
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = EncoderLayer(net, x, absl::StrCat("layer", i), sizes);
  }
  net.Output(x);
  return net;
}

Network Decoder(const DecoderSizes& sizes) {
  Network net("decoder");
  const Extent batch(sizes.batch, "n");
  const Value ids = net.Ids("ids", {batch, 1}, sizes.vocabulary);
  const Value places = net.Ids("places", {batch, 1}, sizes.positions);
  std::vector<Cached> caches;
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const auto cache = [&](const char* what) {
      return net.Floats(absl::StrCat(what, i), {batch,
                                                sizes.heads,
                                                {sizes.length, "l"},
                                                sizes.hidden / sizes.heads});
    };
    caches.push_back({cache("keys"), cache("values")});
  }
  Value x = net.Add(
      net.Embedding(ids, "words", sizes.vocabulary, sizes.hidden),
      net.Embedding(places, "positions", sizes.positions, sizes.hidden));
  for (int64_t i = 0; i < sizes.layers; ++i) {
    x = DecoderLayer(net, x, absl::StrCat("layer", i), sizes, caches[i]);
  }
  net.Output(net.DenseBy(net.LayerNorm(x, "norm", kDecoderEpsilon), "words"));
  for (const Cached& cache : caches) {
    net.Output(cache.keys);
    net.Output(cache.values);
  }
  return net;
}

}  // namespace kiln::models
