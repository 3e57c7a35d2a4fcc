#include "kiln/search/cost/boosted.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/base/file.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/cost/boosted.pb.h"
#include "kiln/search/cost/trees.h"

namespace kiln {
namespace {

constexpr int kVersion = 1;
// How much more data asks for new trees.
constexpr double kGrowth = 1.5;
constexpr double kMinGrowth = 13.0 / 12;  // for any trees
// Programs from which on all rounds are trained.
constexpr int64_t kFullRoundsAt = 96;
// Logarithms of times are not pulled harder than by this: noise makes some
// measurements several times too slow.
constexpr double kMostError = 0.7;

// The numbers of a store's estimate, behind those of the store.
constexpr const char* kEstimateNames[] = {
    "estimate.seconds",  "estimate.arithmetic", "estimate.l1",
    "estimate.l2",       "estimate.l3",         "estimate.memory",
    "estimate.overhead", "estimate.registers"};
constexpr int kNumEstimateColumns = 8;
constexpr int kColumns = kNumStoreFeatures + kNumEstimateColumns;

std::string TableHash() {
  std::string names;
  for (const std::string& name : StoreFeatureNames()) {
    absl::StrAppend(&names, name, "\n");
  }
  for (const char* name : kEstimateNames) absl::StrAppend(&names, name, "\n");
  return Sha256Hex(names);
}

float Nanoseconds(double seconds) {
  return static_cast<float>(std::log2(1 + 1e9 * std::min(seconds, 1e9)));
}

void AppendRows(const Features& features, std::vector<float>* out) {
  for (int i = 0; i < features.stores.rows; ++i) {
    const float* row = features.stores.row(i);
    out->insert(out->end(), row, row + kNumStoreFeatures);
    const StoreEstimate& estimate = features.estimate.stores[i];
    out->push_back(Nanoseconds(estimate.seconds));
    out->push_back(Nanoseconds(estimate.arithmetic));
    for (double seconds : estimate.transfer) {
      out->push_back(Nanoseconds(seconds));
    }
    out->push_back(Nanoseconds(estimate.overhead));
    out->push_back(static_cast<float>(std::min(estimate.registers, 1e6)));
  }
}

// A program to learn from.
struct Example {
  int rows = 0;
  std::vector<float> values;
  double estimate = 0;
  double seconds = 0;
};

using Examples = std::map<std::string, std::vector<Example>>;

// All examples as one matrix, with what the trees should make of each program.
struct TrainingSet {
  std::vector<float> values;
  std::vector<int> rows;        // of each program
  std::vector<double> targets;  // of each program
  std::vector<double> weights;
};

// The sum of a program's rows should be its target: half the derivative of the
// squared error is the same for all its rows.
Gradients ProgramGradients(const TrainingSet& set,
                           const std::vector<float>& margins) {
  Gradients out;
  out.first.reserve(margins.size());
  out.second.reserve(margins.size());
  size_t begin = 0;
  for (size_t i = 0; i < set.rows.size(); ++i) {
    double sum = 0;
    for (int r = 0; r < set.rows[i]; ++r) sum += margins[begin + r];
    const double error =
        std::clamp(sum - set.targets[i], -kMostError, kMostError);
    for (int r = 0; r < set.rows[i]; ++r) {
      out.first.push_back(static_cast<float>(set.weights[i] * error));
      out.second.push_back(static_cast<float>(set.weights[i]));
    }
    begin += set.rows[i];
  }
  return out;
}

// What the trees should add to the logarithm of the time, less the mean over
// the workload.
void AddWorkload(const std::vector<Example>& examples, bool from_estimate,
                 TrainingSet* set) {
  double best = examples[0].seconds;
  for (const Example& e : examples) best = std::min(best, e.seconds);
  std::vector<double> targets, weights;
  double sum = 0, total = 0;
  for (const Example& e : examples) {
    targets.push_back(std::log(e.seconds) -
                      (from_estimate ? std::log(e.estimate) : 0));
    weights.push_back(best / e.seconds);
    sum += weights.back() * targets.back();
    total += weights.back();
  }
  for (size_t i = 0; i < examples.size(); ++i) {
    const Example& e = examples[i];
    set->values.insert(set->values.end(), e.values.begin(), e.values.end());
    set->rows.push_back(e.rows);
    set->targets.push_back(targets[i] - sum / total);
    set->weights.push_back(weights[i]);
  }
}

TreeOptions ToTreeOptions(const BoostedOptions& options) {
  TreeOptions out;
  out.columns = kColumns;
  out.seed = options.seed;
  out.max_depth = options.max_depth;
  out.eta = options.eta;
  out.min_child_weight = options.min_child_weight;
  out.lambda = options.lambda;
  out.columns_per_tree = options.columns_per_tree;
  return out;
}

bool IsTime(double seconds) { return std::isfinite(seconds) && seconds > 0; }

bool IsGood(const cost::MeasuredStores& program) {
  return program.rows() >= 0 &&
         program.values_size() ==
             static_cast<int64_t>(program.rows()) * kColumns &&
         IsTime(program.estimate()) && IsTime(program.seconds());
}

absl::Status Damaged(const std::string& path, std::string_view what) {
  return absl::DataLossError(absl::StrCat(
      path, " is no cost model (", std::string(what),
      "); remove it, and the model learns anew from the database"));
}

}  // namespace

struct BoostedModel::Impl {
  BoostedOptions options;
  Examples examples;
  std::unique_ptr<Trees> trees;
  int rounds = 0;
  int64_t trained_on = 0;  // programs, the last time anew
  int64_t seen = 0;        // programs, the last time at all
  mutable std::mutex predicting;

  int64_t size() const {
    int64_t total = 0;
    for (const auto& [workload, list] : examples) {
      total += static_cast<int64_t>(list.size());
    }
    return total;
  }

  absl::Status Train() {
    const double now = static_cast<double>(size());
    const bool anew = !trees || now >= kGrowth * trained_on ||
                      rounds + options.added_rounds > options.max_rounds;
    if (!anew && now < kMinGrowth * seen) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<Trees> next, NextTrees(anew));
    TrainingSet set;
    for (const auto& [workload, list] : examples) {
      AddWorkload(list, options.from_estimate, &set);
    }
    const int more = anew ? FirstRounds() : options.added_rounds;
    KILN_RETURN_IF_ERROR(
        next->Boost(set.values, more, [&](const std::vector<float>& margins) {
          return ProgramGradients(set, margins);
        }));
    trees = std::move(next);
    rounds = (anew ? 0 : rounds) + more;
    seen = size();
    if (anew) trained_on = size();
    return absl::OkStatus();
  }

  // New trees, or a copy of those there are. A copy, since what XGBoost keeps
  // beside the trees is not in a file, and a model from a file has to go on as
  // the one that was saved does.
  absl::StatusOr<std::unique_ptr<Trees>> NextTrees(bool anew) const {
    TreeOptions tree_options = ToTreeOptions(options);
    if (!anew) tree_options.seed += rounds;
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<Trees> next,
                          Trees::Create(tree_options));
    if (!anew) {
      KILN_ASSIGN_OR_RETURN(const std::string bytes, trees->Serialize());
      KILN_RETURN_IF_ERROR(next->Deserialize(bytes));
    }
    return next;
  }

  // Few programs teach little: fewer trees.
  int FirstRounds() const {
    const int64_t wanted = options.rounds * size() / kFullRoundsAt;
    return static_cast<int>(std::clamp<int64_t>(
        wanted, std::min(10, options.rounds), options.rounds));
  }

  absl::StatusOr<std::string> Serialize() const;
  absl::Status Deserialize(const std::string& state, const std::string& path);
};

BoostedModel::BoostedModel(BoostedOptions options)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
}

BoostedModel::~BoostedModel() = default;

int64_t BoostedModel::size() const { return impl_->size(); }

std::vector<double> BoostedModel::Predict(
    absl::Span<const Features* const> programs) const {
  std::vector<float> values;
  for (const Features* program : programs) AppendRows(*program, &values);
  std::vector<float> leaves(values.size() / kColumns);
  if (impl_->trees) {
    const std::lock_guard<std::mutex> lock(impl_->predicting);
    absl::StatusOr<std::vector<float>> predicted =
        impl_->trees->Predict(values);
    KILN_CHECK(predicted.ok()) << predicted.status().ToString();
    leaves = *std::move(predicted);
  }
  std::vector<double> scores;
  size_t row = 0;
  for (const Features* program : programs) {
    const bool start = impl_->options.from_estimate || !impl_->trees;
    double log_seconds = start ? std::log(program->estimate.seconds) : 0;
    for (int i = 0; i < program->stores.rows; ++i) log_seconds += leaves[row++];
    scores.push_back(std::exp(-log_seconds));
  }
  return scores;
}

absl::Status BoostedModel::Update(const std::string& workload,
                                  absl::Span<const MeasuredProgram> measured) {
  bool grown = false;
  for (const MeasuredProgram& program : measured) {
    const double estimate = program.features->estimate.seconds;
    if (!IsTime(program.seconds) || !IsTime(estimate)) continue;
    Example example;
    example.rows = program.features->stores.rows;
    example.estimate = estimate;
    example.seconds = program.seconds;
    AppendRows(*program.features, &example.values);
    impl_->examples[workload].push_back(std::move(example));
    grown = true;
  }
  return grown ? impl_->Train() : absl::OkStatus();
}

absl::StatusOr<std::string> BoostedModel::Impl::Serialize() const {
  cost::BoostedState state;
  state.set_columns(kColumns);
  for (const auto& [workload, list] : examples) {
    cost::WorkloadData* data = state.add_workloads();
    data->set_workload(workload);
    for (const Example& e : list) {
      cost::MeasuredStores* program = data->add_programs();
      program->set_rows(e.rows);
      program->mutable_values()->Add(e.values.begin(), e.values.end());
      program->set_estimate(e.estimate);
      program->set_seconds(e.seconds);
    }
  }
  if (trees) {
    KILN_ASSIGN_OR_RETURN(*state.mutable_trees(), trees->Serialize());
  }
  state.set_rounds(rounds);
  state.set_trained_on(trained_on);
  state.set_seen(seen);
  return state.SerializeAsString();
}

absl::Status BoostedModel::Impl::Deserialize(const std::string& bytes,
                                             const std::string& path) {
  cost::BoostedState state;
  if (!state.ParseFromString(bytes) || state.columns() != kColumns) {
    return Damaged(path, "its contents are not readable");
  }
  Examples read;
  for (const cost::WorkloadData& data : state.workloads()) {
    for (const cost::MeasuredStores& program : data.programs()) {
      if (!IsGood(program)) return Damaged(path, "a program's numbers");
      read[data.workload()].push_back(
          {program.rows(),
           {program.values().begin(), program.values().end()},
           program.estimate(),
           program.seconds()});
    }
  }
  std::unique_ptr<Trees> loaded;
  if (!state.trees().empty()) {
    KILN_ASSIGN_OR_RETURN(loaded, Trees::Create(ToTreeOptions(options)));
    if (!loaded->Deserialize(state.trees()).ok()) {
      return Damaged(path, "its trees");
    }
  }
  examples = std::move(read);
  trees = std::move(loaded);
  rounds = state.rounds();
  trained_on = state.trained_on();
  seen = state.seen();
  return absl::OkStatus();
}

absl::Status BoostedModel::Save(const std::string& path) const {
  cost::BoostedFile file;
  file.set_version(kVersion);
  file.set_table(TableHash());
  KILN_ASSIGN_OR_RETURN(*file.mutable_state(), impl_->Serialize());
  file.set_checksum(Sha256Hex(file.state()));
  return WriteFileAtomically(path, file.SerializeAsString());
}

absl::Status BoostedModel::Load(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  cost::BoostedFile file;
  if (!file.ParseFromString(bytes)) return Damaged(path, "no such file format");
  if (file.version() != kVersion || file.table() != TableHash()) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " holds a cost model of version ", file.version(),
        " or of another table of features; this program has version ", kVersion,
        ". Remove it, and the model learns anew from the database"));
  }
  if (file.checksum() != Sha256Hex(file.state())) {
    return Damaged(path, "its checksum");
  }
  return impl_->Deserialize(file.state(), path);
}

}  // namespace kiln
