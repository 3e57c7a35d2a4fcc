#include <cblas.h>

#include <cmath>
#include <functional>

#include "absl/strings/str_split.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/library_state.h"

namespace kiln::bench {
namespace {

// c[batch, m, n] = a[batch, m, k] * b, with rows of `lda`, `ldb` elements.
struct Product {
  int batch = 1, m = 1, n = 1, k = 1;
  int lda = 1, ldb = 1;
  bool b_transposed = false;
  int64_t step_a = 0, step_b = 0, step_c = 0;
};

Product Plain(int64_t batch, int64_t m, int64_t n, int64_t k) {
  Product p;
  p.batch = static_cast<int>(batch);
  p.m = static_cast<int>(m);
  p.n = p.ldb = static_cast<int>(n);
  p.k = p.lda = static_cast<int>(k);
  p.step_a = m * k;
  p.step_b = k * n;
  p.step_c = m * n;
  return p;
}

// Both operands have the heads between the rows.
Product Attention(int64_t seq, int64_t heads, int64_t dim) {
  Product p = Plain(heads, seq, seq, dim);
  p.lda = p.ldb = static_cast<int>(heads * dim);
  p.b_transposed = true;
  p.step_a = p.step_b = dim;
  return p;
}

std::optional<Product> ProductOf(const OpCase& op) {
  const std::vector<int64_t>& d = op.dims;
  if (op.workload == "gmm") {
    return d.size() == 4 ? Plain(d[0], d[1], d[2], d[3])
                         : Plain(1, d[0], d[1], d[2]);
  }
  if (op.workload == "tbg") return Attention(d[0], d[1], d[2]);
  if (op.workload == "den") {
    Product p = Plain(1, d[0], d[1], d[2]);
    p.ldb = p.k;
    p.b_transposed = true;
    return p;
  }
  const std::optional<ConvShape> c = ConvShapeOf(op);
  if (!c || !c->is_product() || op.workload == "cbr") return std::nullopt;
  return Plain(1, op.output().num_elements() / c->co, c->co, c->ci);
}

// One row, for which there is a function of its own.
void MultiplyRow(const Product& p, const float* a, const float* b, float* c) {
  cblas_sgemv(CblasRowMajor, p.b_transposed ? CblasNoTrans : CblasTrans,
              p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n, 1.0f, b,
              p.ldb, a, 1, 0.0f, c, 1);
}

void Multiply(const Product& p, const float* a, const float* b, float* c) {
  for (int i = 0; i < p.batch; ++i) {
    if (p.m == 1) {
      MultiplyRow(p, a + i * p.step_a, b + i * p.step_b, c + i * p.step_c);
      continue;
    }
    cblas_sgemm(CblasRowMajor, CblasNoTrans,
                p.b_transposed ? CblasTrans : CblasNoTrans, p.m, p.n, p.k, 1.0f,
                a + i * p.step_a, p.lda, b + i * p.step_b, p.ldb, 0.0f,
                c + i * p.step_c, p.n);
  }
}

void SetThreads(int threads) {
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
}

// The norm by way of a product, which OpenBLAS has wider kernels for than for
// snrm2: sqrt of the sum of squares in single precision.
class OpenBlasDot : public Contender {
 public:
  std::string name() const override { return "OpenBLAS, sqrt(sdot)"; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    if (op.workload != "nrm") return std::function<void()>();
    const int count = static_cast<int>(op.args[0].num_elements());
    return [a = op.input(0), count, out = op.out(), threads = op.threads] {
      SetThreads(threads);
      *out = std::sqrt(cblas_sdot(count, a, 1, a, 1));
    };
  }
};

class OpenBlasContender : public Contender {
 public:
  std::string name() const override { return "OpenBLAS"; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    const std::function<void()> work = WorkOf(op);
    if (!work) return work;
    return [work, threads = op.threads] {
      SetThreads(threads);
      work();
    };
  }

 private:
  static std::function<void()> WorkOf(const OpCase& op) {
    if (op.workload == "nrm") {
      const int count = static_cast<int>(op.args[0].num_elements());
      return [a = op.input(0), count, out = op.out()] {
        *out = cblas_snrm2(count, a, 1);
      };
    }
    const std::optional<Product> product = ProductOf(op);
    if (!product) return nullptr;
    return [p = *product, a = op.input(0), b = op.input(1), c = op.out()] {
      Multiply(p, a, b, c);
    };
  }
};

}  // namespace

// The configuration starts "OpenBLAS 0.3.21 ".
LibraryState OpenBlasState() {
  const std::vector<std::string> words =
      absl::StrSplit(openblas_get_config(), ' ', absl::SkipEmpty());
  const std::string core = openblas_get_corename();
  return {"OpenBLAS", words.size() > 1 ? words[1] : "of no version", core,
          LevelOfOpenBlasCore(core), openblas_get_num_threads()};
}

std::unique_ptr<Contender> OpenBlasNormByProduct() {
  return std::make_unique<OpenBlasDot>();
}

std::unique_ptr<Contender> OpenBlas() {
  return std::make_unique<OpenBlasContender>();
}

}  // namespace kiln::bench
