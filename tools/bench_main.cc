// bazel run //tools:bench -- --suite gemm --threads 1,2
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/interrupt.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/tools/rivals/contender.h"
#include "kiln/tools/support/main.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"
#include "kiln/vm/profile/machine_peak.h"

ABSL_FLAG(std::string, suite, "gemm", "what to measure: gemm");
ABSL_FLAG(std::string, shapes,
          "128x128x128,256x256x256,512x512x512,1024x1024x1024,2048x2048x2048,"
          "128x768x3072,512x512x32,49x512x4608",
          "m x n x k of each product");
ABSL_FLAG(std::string, threads, "1,2", "how many threads, one run for each");
ABSL_FLAG(int64_t, trials, 64, "of Kiln's tuning, for each shape");
ABSL_FLAG(std::string, work_dir, "kiln_bench",
          "where Kiln's tuned kernels are kept");
ABSL_FLAG(int, repetitions, 30, "of each measurement, in random turns");
ABSL_FLAG(double, seconds, 0.01, "that one repetition takes at least");
ABSL_FLAG(bool, json, false, "print one JSON object a line");

namespace kiln {
namespace {

using bench::Contender;
using bench::GemmCase;
using bench::GemmShape;

constexpr char kPeakName[] = "peak";

constexpr char kUsage[] =
    "Measures Kiln beside OpenBLAS and oneDNN in one run.\n"
    "  bench --suite gemm --threads 1,2 [--shapes 512x512x512] [--json]";

absl::StatusOr<std::vector<int64_t>> ParseInts(const std::string& text,
                                               char separator, size_t count,
                                               const char* flag) {
  std::vector<int64_t> values;
  for (const auto& part : absl::StrSplit(text, separator)) {
    int64_t value;
    if (!absl::SimpleAtoi(part, &value) || value < 1 || value > (1 << 20)) {
      values.clear();
      break;
    }
    values.push_back(value);
  }
  if (values.empty() || (count > 0 && values.size() != count)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": \"", text, "\" is not what is wanted, such as ",
                     count == 3 ? "512x512x512" : "1,2"));
  }
  return values;
}

absl::StatusOr<std::vector<GemmShape>> ParseShapes() {
  std::vector<GemmShape> shapes;
  for (const auto& part : absl::StrSplit(absl::GetFlag(FLAGS_shapes), ',')) {
    KILN_ASSIGN_OR_RETURN(std::vector<int64_t> v,
                          ParseInts(std::string(part), 'x', 3, "--shapes"));
    shapes.push_back({v[0], v[1], v[2]});
  }
  return shapes;
}

// Random operands, and the product at a few places in double precision.
struct Operands {
  NDArray a, b, c;

  static absl::StatusOr<Operands> Make(const GemmShape& s) {
    Operands o;
    const DType f32 = DType::Float(32);
    KILN_ASSIGN_OR_RETURN(o.a, NDArray::Zeros({s.m, s.k}, f32));
    KILN_ASSIGN_OR_RETURN(o.b, NDArray::Zeros({s.k, s.n}, f32));
    KILN_ASSIGN_OR_RETURN(o.c, NDArray::Zeros({s.m, s.n}, f32));
    FillRandom(o.a, 1);
    FillRandom(o.b, 2);
    return o;
  }

  absl::Status Check(const GemmShape& s, const std::string& who) const {
    const float *x = a.data_as<float>(), *y = b.data_as<float>();
    const double tolerance = 2e-6 * std::sqrt(static_cast<double>(s.k)) * 4;
    for (int64_t sample = 0; sample < 4096; ++sample) {
      const int64_t i = sample * 7919 % s.m, j = sample * 104729 % s.n;
      double sum = 0;
      for (int64_t k = 0; k < s.k; ++k) {
        sum += static_cast<double>(x[i * s.k + k]) * y[k * s.n + j];
      }
      const double got = c.data_as<float>()[i * s.n + j];
      if (!(std::abs(got - sum) <= tolerance)) {
        return absl::InternalError(absl::StrFormat(
            "%s computes %g at (%d, %d) of %s, where %g is right", who, got, i,
            j, s.ToString(), sum));
      }
    }
    return absl::OkStatus();
  }
};

// Keeps the best time of each benchmark instead of printing.
class BestTimes : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const double us = run.real_accumulated_time / run.iterations * 1e6;
      auto [best, is_new] = best_us_.emplace(run.run_name.function_name, us);
      if (!is_new) best->second = std::min(best->second, us);
    }
  }
  double Get(const std::string& name) const {
    auto found = best_us_.find(name);
    return found == best_us_.end() ? std::numeric_limits<double>::quiet_NaN()
                                   : found->second;
  }

 private:
  std::map<std::string, double> best_us_;
};

struct Row {
  std::string contender;
  bool is_library = false;
  bool pack_ahead = false;
  double us = 0;
};

// What a row is to be measured by: the time of the best library. A library that
// has B packed ahead is no measure for who packs in the time.
double BestLibrary(const std::vector<Row>& rows, bool pack_ahead) {
  double best = std::numeric_limits<double>::infinity();
  for (const Row& row : rows) {
    if (!row.is_library || (row.pack_ahead && !pack_ahead)) continue;
    best = std::min(best, row.us);
  }
  return best;
}

void PrintRows(const GemmShape& shape, int threads, double peak,
               const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const double best_library = BestLibrary(rows, row.pack_ahead);
    const double gflops = shape.flop() / row.us * 1e-3;
    const char* format =
        absl::GetFlag(FLAGS_json)
            ? "{\"shape\":\"%s\",\"threads\":%d,\"contender\":\"%s\","
              "\"us\":%.3f,\"gflops\":%.2f,\"peak_share\":%.4f,"
              "\"speedup_over_best_library\":%.4f}\n"
            : "%-15s %7d  %-22s %11.2f %9.2f %8.4f %12.4f\n";
    std::printf(format, shape.ToString().c_str(), threads,
                row.contender.c_str(), row.us, gflops, gflops / peak,
                best_library / row.us);
  }
  std::fflush(stdout);
}

void Register(const std::string& name, std::function<void()> call) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [call](benchmark::State& state) {
                                 for (auto _ : state) call();
                               })
      ->UseRealTime()
      ->MinTime(absl::GetFlag(FLAGS_seconds))
      ->Repetitions(absl::GetFlag(FLAGS_repetitions));
}

// The machine's peak is measured as the contenders are: in the same turns, the
// best of as many runs of the same length.
void UpdatePeak(ThreadPool& pool, int threads, double* peak) {
  const PeakOptions once = {.runs = 1,
                            .run_us = absl::GetFlag(FLAGS_seconds) * 1e6};
  *peak =
      std::max(*peak, MeasurePeakGflops(pool, threads, DType::Float(32), once));
}

absl::Status RunCase(const GemmShape& shape, int threads, ThreadPool& pool,
                     const std::vector<std::unique_ptr<Contender>>& all) {
  KILN_ASSIGN_OR_RETURN(Operands operands, Operands::Make(shape));
  GemmCase gemm{shape, threads, operands.a.data_as<float>(),
                operands.b.data_as<float>(), operands.c.data_as<float>()};
  for (const auto& contender : all) {
    KILN_ASSIGN_OR_RETURN(std::function<void()> call, contender->Prepare(gemm));
    std::fill_n(gemm.c, shape.m * shape.n, -1.0f);
    call();
    KILN_RETURN_IF_ERROR(operands.Check(shape, contender->name()));
    Register(contender->name(), std::move(call));
  }
  double peak = 0;
  Register(kPeakName, [&] { UpdatePeak(pool, threads, &peak); });
  BestTimes times;
  benchmark::RunSpecifiedBenchmarks(&times);
  benchmark::ClearRegisteredBenchmarks();
  std::vector<Row> rows;
  for (const auto& contender : all) {
    rows.push_back({contender->name(), contender->is_library(),
                    contender->packs_ahead(), times.Get(contender->name())});
  }
  PrintRows(shape, threads, peak, rows);
  return absl::OkStatus();
}

void InitializeBenchmark() {
  static char name[] = "bench";
  static char interleave[] = "--benchmark_enable_random_interleaving=true";
  char* argv[] = {name, interleave, nullptr};
  int argc = 2;
  benchmark::Initialize(&argc, argv);
}

absl::Status CheckFlags() {
  if (absl::GetFlag(FLAGS_trials) < 1) {
    return absl::InvalidArgumentError("--trials has to be at least 1");
  }
  if (absl::GetFlag(FLAGS_repetitions) < 1) {
    return absl::InvalidArgumentError("--repetitions has to be at least 1");
  }
  if (!(absl::GetFlag(FLAGS_seconds) > 0)) {
    return absl::InvalidArgumentError("--seconds has to be above 0");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Bench() {
  InstallInterruptHandler();
  KILN_RETURN_IF_ERROR(CheckFlags());
  if (absl::GetFlag(FLAGS_suite) != "gemm") {
    return absl::InvalidArgumentError(
        absl::StrCat("--suite ", absl::GetFlag(FLAGS_suite),
                     " is not known; there is gemm"));
  }
  KILN_ASSIGN_OR_RETURN(std::vector<GemmShape> shapes, ParseShapes());
  KILN_ASSIGN_OR_RETURN(
      std::vector<int64_t> threads,
      ParseInts(absl::GetFlag(FLAGS_threads), ',', 0, "--threads"));
  const bench::KilnOptions options{absl::GetFlag(FLAGS_trials),
                                   CallerPath(absl::GetFlag(FLAGS_work_dir)),
                                   Interrupted};
  std::vector<std::unique_ptr<Contender>> all;
  all.push_back(bench::Kiln(options, false));
  all.push_back(bench::Kiln(options, true));
  all.push_back(bench::OpenBlas());
  all.push_back(bench::OneDnn(false));
  all.push_back(bench::OneDnn(true));
  InitializeBenchmark();
  if (!absl::GetFlag(FLAGS_json)) {
    std::printf("%-15s %7s  %-22s %11s %9s %8s %12s\n", "m x n x k", "threads",
                "contender", "us", "GFLOP/s", "of peak", "x library");
  }
  ThreadPool pool;
  for (int64_t count : threads) {
    for (const GemmShape& shape : shapes) {
      if (Interrupted()) return kExitError;
      KILN_RETURN_IF_ERROR(RunCase(shape, static_cast<int>(count), pool, all));
    }
  }
  return kExitOk;
}

}  // namespace
}  // namespace kiln

int main(int argc, char** argv) {
  return kiln::RunTool(argc, argv, kiln::kUsage, kiln::Bench);
}
