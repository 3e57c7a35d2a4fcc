// oneDNN: matrix products, softmax and norms here, convolutions in
// onednn_convolution.cc. Preparing a case makes a plan: a primitive, its
// memory, and the copies that each run has to make. Operands are bound where
// Kiln's kernels have them; a layout that oneDNN prefers is copied into
//
//   pack_ahead        the constant operand, once, before the clock starts
//   otherwise         in every run, and only where oneDNN would else take its
//                     reference implementation, or for weights of a convolution
//
// so both contenders do what a caller would have to do. A workload gets a line
// in PlanOf; one that oneDNN does not have is left out (nullptr).
#include <oneapi/dnnl/dnnl_debug.h>

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/rivals/library_state.h"
#include "kiln/tools/rivals/onednn_plan.h"

// Of the OpenMP runtime that oneDNN runs on.
extern "C" void omp_set_num_threads(int num_threads);
extern "C" int omp_get_max_threads();

namespace kiln::bench {
namespace {

using Memory = dnnl::memory;
using Tag = dnnl::memory::format_tag;
constexpr auto kF32 = Memory::data_type::f32;

struct ProductDescs {
  Memory::desc a, b, c;
};

ProductDescs Plain(int64_t batch, int64_t m, int64_t n, int64_t k) {
  if (batch == 1) {
    return {{{m, k}, kF32, Tag::ab},
            {{k, n}, kF32, Tag::ab},
            {{m, n}, kF32, Tag::ab}};
  }
  return {{{batch, m, k}, kF32, Tag::abc},
          {{batch, k, n}, kF32, Tag::abc},
          {{batch, m, n}, kF32, Tag::abc}};
}

// Both operands have the heads between the rows.
ProductDescs Attention(int64_t seq, int64_t heads, int64_t dim) {
  const int64_t row = heads * dim;
  return {{{heads, seq, dim}, kF32, Memory::dims{dim, row, 1}},
          {{heads, dim, seq}, kF32, Memory::dims{dim, 1, row}},
          {{heads, seq, seq}, kF32, Tag::abc}};
}

// The second operand is stored column by column.
ProductDescs Dense(int64_t m, int64_t n, int64_t k) {
  return {{{m, k}, kF32, Tag::ab},
          {{k, n}, kF32, Tag::ba},
          {{m, n}, kF32, Tag::ab}};
}

ProductDescs DescsOf(const OpCase& op) {
  const std::vector<int64_t>& d = op.dims;
  if (op.workload == "den") return Dense(d[0], d[1], d[2]);
  if (op.workload == "tbg") return Attention(d[0], d[1], d[2]);
  return d.size() == 4 ? Plain(d[0], d[1], d[2], d[3])
                       : Plain(1, d[0], d[1], d[2]);
}

bool IsReference(const char* implementation) {
  return std::strncmp(implementation, "ref", 3) == 0;
}

Memory::desc AnyLayout(const Memory::desc& desc) {
  return Memory::desc(desc.dims(), kF32, Tag::any);
}

using ProductPlan = dnnl::matmul::primitive_desc;

ProductPlan Choose(const ProductDescs& d, const dnnl::engine& engine) {
  return ProductPlan(dnnl::matmul::desc(d.a, d.b, d.c), engine);
}

// As the operands lie; where only the reference implementation does that,
// with copies of them in every call.
ProductPlan ChooseFor(const OpCase& op, const ProductDescs& d,
                      const OneDnnContext& context) {
  ProductDescs wanted = d;
  if (context.pack_ahead && op.workload != "tbg") wanted.b = AnyLayout(d.b);
  ProductPlan chosen = Choose(wanted, context.engine);
  if (!IsReference(chosen.impl_info_str())) return chosen;
  return Choose({AnyLayout(d.a), AnyLayout(d.b), d.c}, context.engine);
}

class OneDnnContender : public Contender {
 public:
  explicit OneDnnContender(bool pack_ahead) : pack_ahead_(pack_ahead) {}

  std::string name() const override {
    return pack_ahead_ ? "oneDNN, packed ahead" : "oneDNN";
  }
  bool packs_ahead() const override { return pack_ahead_; }

  absl::StatusOr<std::function<void()>> Prepare(const OpCase& op) override {
    try {
      return Planned(op);
    } catch (const dnnl::error& error) {
      return absl::InternalError(
          absl::StrCat("oneDNN refuses ", op.spec(), ": ", error.what()));
    }
  }

 private:
  // Whether some operand can be constant.
  static bool HasWeights(const OpCase& op) {
    return op.workload == "gmm" || op.workload == "den" ||
           ConvShapeOf(op).has_value();
  }

  std::function<void()> Planned(const OpCase& op) const {
    if (pack_ahead_ && !HasWeights(op)) return nullptr;
    omp_set_num_threads(op.threads);
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const OneDnnContext context{engine, dnnl::stream(engine), pack_ahead_};
    std::optional<OneDnnPlan> plan = PlanOf(op, context);
    if (!plan) return nullptr;
    return [plan = *std::move(plan), stream = context.stream,
            threads = op.threads]() mutable {
      omp_set_num_threads(threads);
      plan.Run(stream);
    };
  }

  static std::optional<OneDnnPlan> PlanOf(const OpCase& op,
                                          const OneDnnContext& context) {
    if (std::optional<ConvShape> conv = ConvShapeOf(op)) {
      return PlanConvolution(op, *conv, context);
    }
    if (op.workload == "gmm" || op.workload == "tbg" || op.workload == "den") {
      return PlanProduct(op, context);
    }
    if (op.workload == "sfm") return PlanSoftmax(op, context);
    if (op.workload == "nrm") return PlanNorm(op, context);
    return PlanLayer(op, context);
  }

  const bool pack_ahead_;
};

}  // namespace

void OneDnnPlan::Run(dnnl::stream& stream) {
  for (Copy& copy : copies) copy.reorder.execute(stream, copy.from, copy.to);
  primitive.execute(stream, args);
  stream.wait();
}

Memory OneDnnContext::Bind(const Memory::desc& plain, const void* data) const {
  return Memory(plain, engine, const_cast<void*>(data));
}

Memory OneDnnContext::Constant(const Memory::desc& plain, const void* data,
                               const Memory::desc& wanted,
                               OneDnnPlan* plan) const {
  Memory from = Bind(plain, data);
  if (wanted == plain) return from;
  Memory to(wanted, engine);
  OneDnnPlan::Copy copy{dnnl::reorder(from, to), from, to};
  if (!pack_ahead) {
    plan->copies.push_back(std::move(copy));
    return to;
  }
  dnnl::stream once(engine);
  copy.reorder.execute(once, from, to);
  once.wait();
  return to;
}

OneDnnPlan PlanProduct(const OpCase& op, const OneDnnContext& context) {
  const ProductDescs plain = DescsOf(op);
  const ProductPlan chosen = ChooseFor(op, plain, context);
  OneDnnPlan plan;
  plan.primitive = dnnl::matmul(chosen);
  plan.args[DNNL_ARG_SRC] =
      context.Constant(plain.a, op.input(0), chosen.src_desc(), &plan);
  plan.args[DNNL_ARG_WEIGHTS] =
      context.Constant(plain.b, op.input(1), chosen.weights_desc(), &plan);
  plan.args[DNNL_ARG_DST] = context.Bind(chosen.dst_desc(), op.out());
  return plan;
}

OneDnnPlan PlanSoftmax(const OpCase& op, const OneDnnContext& context) {
  const Memory::desc matrix({op.dims[0], op.dims[1]}, kF32, Tag::ab);
  const dnnl::softmax_forward::primitive_desc chosen(
      dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, matrix,
                                  1),
      context.engine);
  OneDnnPlan plan;
  plan.primitive = dnnl::softmax_forward(chosen);
  plan.args[DNNL_ARG_SRC] = context.Bind(matrix, op.input(0));
  plan.args[DNNL_ARG_DST] = context.Bind(matrix, op.out());
  return plan;
}

OneDnnPlan PlanNorm(const OpCase& op, const OneDnnContext& context) {
  const Memory::desc matrix({op.dims[0], op.dims[1]}, kF32, Tag::ab);
  const Memory::desc number({1, 1}, kF32, Tag::ab);
  const dnnl::reduction::primitive_desc chosen(
      dnnl::reduction::desc(dnnl::algorithm::reduction_norm_lp_sum, matrix,
                            number, 2.0f, 0.0f),
      context.engine);
  OneDnnPlan plan;
  plan.primitive = dnnl::reduction(chosen);
  plan.args[DNNL_ARG_SRC] = context.Bind(matrix, op.input(0));
  plan.args[DNNL_ARG_DST] = context.Bind(number, op.out());
  return plan;
}

LibraryState OneDnnState() {
  const dnnl_version_t* v = dnnl_version();
  const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto has = [&](dnnl_cpu_isa_t wanted) {
    return (isa & static_cast<unsigned>(wanted)) == wanted;
  };
  const IsaLevel level = has(dnnl_cpu_isa_avx512_core) ? IsaLevel::kAvx512
                         : has(dnnl_cpu_isa_avx2)      ? IsaLevel::kAvx2
                         : has(dnnl_cpu_isa_avx)       ? IsaLevel::kAvx
                                                       : IsaLevel::kBaseline;
  return {"oneDNN", absl::StrCat(v->major, ".", v->minor, ".", v->patch),
          dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa()), level,
          omp_get_max_threads()};
}

std::unique_ptr<Contender> OneDnn(bool pack_ahead) {
  return std::make_unique<OneDnnContender>(pack_ahead);
}

}  // namespace kiln::bench
