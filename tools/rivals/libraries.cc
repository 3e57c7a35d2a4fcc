// OpenBLAS and oneDNN.
#include <cblas.h>

#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/tools/rivals/contender.h"
#include "oneapi/dnnl/dnnl.hpp"

// Of the OpenMP runtime that oneDNN runs on.
extern "C" void omp_set_num_threads(int num_threads);

namespace kiln::bench {
namespace {

class OpenBlasContender : public Contender {
 public:
  std::string name() const override { return "OpenBLAS"; }

  absl::StatusOr<std::function<void()>> Prepare(const GemmCase& g) override {
    return [g] {
      if (openblas_get_num_threads() != g.threads) {
        openblas_set_num_threads(g.threads);
      }
      const int m = g.shape.m, n = g.shape.n, k = g.shape.k;
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, g.a,
                  k, g.b, n, 0.0f, g.c, n);
    };
  }
};

class OneDnnContender : public Contender {
 public:
  explicit OneDnnContender(bool pack_ahead) : pack_ahead_(pack_ahead) {}

  std::string name() const override {
    return pack_ahead_ ? "oneDNN, B packed ahead" : "oneDNN";
  }
  bool packs_ahead() const override { return pack_ahead_; }

  absl::StatusOr<std::function<void()>> Prepare(const GemmCase& g) override {
    try {
      return Plan(g);
    } catch (const dnnl::error& error) {
      return absl::InternalError(absl::StrCat("oneDNN: ", error.what()));
    }
  }

 private:
  using Memory = dnnl::memory;
  using Tag = dnnl::memory::format_tag;

  static Memory::desc Matrix(int64_t rows, int64_t cols, Tag tag) {
    return Memory::desc({rows, cols}, Memory::data_type::f32, tag);
  }

  std::function<void()> Plan(const GemmCase& g) {
    omp_set_num_threads(g.threads);
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    dnnl::stream stream(engine);
    const GemmShape& s = g.shape;
    dnnl::matmul::desc desc(Matrix(s.m, s.k, Tag::ab),
                            Matrix(s.k, s.n, pack_ahead_ ? Tag::any : Tag::ab),
                            Matrix(s.m, s.n, Tag::ab));
    dnnl::matmul::primitive_desc plan(desc, engine);
    Memory a(plan.src_desc(), engine, const_cast<float*>(g.a));
    Memory plain_b(Matrix(s.k, s.n, Tag::ab), engine, const_cast<float*>(g.b));
    Memory b = plain_b;
    if (plan.weights_desc() != plain_b.get_desc()) {
      b = Memory(plan.weights_desc(), engine);
      dnnl::reorder(plain_b, b).execute(stream, plain_b, b);
      stream.wait();
    }
    Memory c(plan.dst_desc(), engine, g.c);
    std::unordered_map<int, Memory> args = {
        {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
    dnnl::matmul matmul(plan);
    return [matmul, args, stream, threads = g.threads]() mutable {
      omp_set_num_threads(threads);
      matmul.execute(stream, args);
      stream.wait();
    };
  }

  const bool pack_ahead_;
};

}  // namespace

std::string GemmShape::ToString() const {
  return absl::StrCat(m, "x", n, "x", k);
}

std::unique_ptr<Contender> OpenBlas() {
  return std::make_unique<OpenBlasContender>();
}

std::unique_ptr<Contender> OneDnn(bool pack_ahead) {
  return std::make_unique<OneDnnContender>(pack_ahead);
}

}  // namespace kiln::bench
