// Trying instances out.
//
//   for i in range(100):
//     for j in range(16):
//       if i * 16 + j < 1000:
//         A[i * 16 + j]
//
// with A of 999 elements: the slack is 998 - (i * 16 + j). 1,600 instances are
// tried one by one, each loop in turn and each condition as soon as it stands.
// Where there are too many, the ends and middles of the loops are, and from the
// instances that get through, single loops are moved by powers of two for as
// long as the slack shrinks. That finds the last instance below a bound in a
// few dozen steps.
#include "kiln/ir/verify/instances.h"

#include <optional>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/verify/evaluate.h"

namespace kiln::verify_internal {
namespace {

constexpr int kMaxVisits = 1 << 14;
constexpr size_t kMaxStarts = 48;
constexpr int kMaxMoves = 1 << 12;

using Point = std::vector<int64_t>;  // the values of the loops

// The variables that matter to `slack` or to a condition.
std::unordered_set<const VarNode*> Relevant(const Steps& steps,
                                            const Expr& slack) {
  std::unordered_set<const VarNode*> wanted;
  const auto want = [&](const Expr& e) {
    if (!e) return;
    for (const Var& var : FreeVars(e)) wanted.insert(var.get());
  };
  want(slack);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    switch (step->kind) {
      case Step::Kind::kLoop:
        want(step->range.min);
        want(step->range.extent);
        break;
      case Step::Kind::kValue:
        if (wanted.count(step->var.get())) want(step->value);
        break;
      case Step::Kind::kCondition:
        want(step->value);
        break;
    }
  }
  return wanted;
}

class Search {
 public:
  Search(const Steps& steps, const Expr& slack)
      : steps_(steps), slack_(slack), relevant_(Relevant(steps, slack)) {}

  Trial Run();

 private:
  // Goes through the steps from `at` on; true to stop.
  bool Walk(size_t at);
  bool WalkLoop(size_t at);
  bool WalkCondition(size_t at);
  bool Arrive();
  Point Candidates(const Var& var, int64_t min, int64_t extent) const;
  bool Stop() {
    unknown_ = true;
    return true;
  }
  // The slack at a point that is reached for sure.
  std::optional<int64_t> SlackAt(const Point& point);
  bool Enter(const Step& step, const Point& point, size_t* loop);
  // Moves one loop so that the slack shrinks; false where none does.
  bool Move(Point* point, int64_t* slack);
  void Descend(Point point);
  void Fail(const Point& point, int64_t slack);

  const Steps& steps_;
  const Expr& slack_;
  const std::unordered_set<const VarNode*> relevant_;
  Values values_;
  Point point_;
  std::vector<Point> starts_;
  bool ends_only_ = false, unknown_ = false, cut_ = false;
  int unsure_ = 0;  // conditions around that are not known to hold
  int visits_ = 0, moves_ = 0;
  Trial trial_;
};

void Search::Fail(const Point& point, int64_t slack) {
  trial_ = {Outcome::kNotAlways, {}, slack};
  size_t loop = 0;
  for (const Step& step : steps_) {
    if (step.kind != Step::Kind::kLoop) continue;
    if (relevant_.count(step.var.get())) {
      trial_.instance.emplace_back(step.var, point[loop]);
    }
    ++loop;
  }
}

bool Search::Arrive() {
  const std::optional<int64_t> slack = Evaluate(slack_, values_);
  if (!slack) return Stop();
  if (unsure_ > 0) {
    unknown_ = unknown_ || *slack < 0;
    return false;
  }
  if (*slack < 0) {
    Fail(point_, *slack);
    return true;
  }
  if (ends_only_ && starts_.size() < kMaxStarts) starts_.push_back(point_);
  return false;
}

Point Search::Candidates(const Var& var, int64_t min, int64_t extent) const {
  if (!relevant_.count(var.get())) return {min};
  const int64_t last = min + extent - 1;
  if (ends_only_ && extent > 5) {
    return {min, last, min + extent / 2, min + 1, last - 1};
  }
  Point values;
  for (int64_t value = min; value <= last && value - min <= kMaxVisits;
       ++value) {
    values.push_back(value);
  }
  return values;
}

bool Search::WalkLoop(size_t at) {
  const Step& step = steps_[at];
  const auto min = Evaluate(step.range.min, values_);
  const auto extent = Evaluate(step.range.extent, values_);
  int64_t end;
  if (!min || !extent || __builtin_add_overflow(*min, *extent, &end)) {
    return Stop();
  }
  if (*extent <= 0) return false;
  for (int64_t value : Candidates(step.var, *min, *extent)) {
    if (++visits_ > kMaxVisits) {
      cut_ = true;
      return true;
    }
    values_[step.var.get()] = value;
    point_.push_back(value);
    const bool stop = Walk(at + 1);
    point_.pop_back();
    if (stop) return true;
  }
  return false;
}

bool Search::WalkCondition(size_t at) {
  const Expr& condition = steps_[at].value;
  const auto holds =
      condition ? Evaluate(condition, values_) : std::optional<int64_t>();
  if (holds && !*holds) return false;
  const int unsure = holds ? 0 : 1;
  unsure_ += unsure;
  const bool stop = Walk(at + 1);
  unsure_ -= unsure;
  return stop;
}

bool Search::Walk(size_t at) {
  if (at == steps_.size()) return Arrive();
  const Step& step = steps_[at];
  switch (step.kind) {
    case Step::Kind::kLoop:
      return WalkLoop(at);
    case Step::Kind::kCondition:
      return WalkCondition(at);
    case Step::Kind::kValue:
      values_[step.var.get()] = Evaluate(step.value, values_);
      return Walk(at + 1);
  }
  return true;
}

bool Search::Enter(const Step& step, const Point& point, size_t* loop) {
  switch (step.kind) {
    case Step::Kind::kLoop: {
      const int64_t value = point[(*loop)++];
      const auto min = Evaluate(step.range.min, values_);
      const auto extent = Evaluate(step.range.extent, values_);
      values_[step.var.get()] = value;
      return min && extent && value >= *min && value - *min < *extent;
    }
    case Step::Kind::kCondition:
      return step.value && Evaluate(step.value, values_).value_or(0) != 0;
    case Step::Kind::kValue:
      values_[step.var.get()] = Evaluate(step.value, values_);
      return true;
  }
  return false;
}

std::optional<int64_t> Search::SlackAt(const Point& point) {
  size_t loop = 0;
  for (const Step& step : steps_) {
    if (!Enter(step, point, &loop)) return std::nullopt;
  }
  return Evaluate(slack_, values_);
}

bool Search::Move(Point* point, int64_t* slack) {
  for (size_t i = 0; i < point->size(); ++i) {
    for (int64_t step = int64_t{1} << 30; step > 0; step /= 2) {
      for (int64_t by : {step, -step}) {
        if (++moves_ > kMaxMoves) return false;
        Point next = *point;
        if (__builtin_add_overflow(next[i], by, &next[i])) continue;
        const auto reached = SlackAt(next);
        if (!reached || *reached >= *slack) continue;
        *point = std::move(next);
        *slack = *reached;
        return true;
      }
    }
  }
  return false;
}

void Search::Descend(Point point) {
  moves_ = 0;
  std::optional<int64_t> slack = SlackAt(point);
  while (slack && *slack >= 0 && Move(&point, &*slack)) {
  }
  if (slack && *slack < 0) Fail(point, *slack);
}

Trial Search::Run() {
  Walk(0);
  if (trial_.outcome == Outcome::kNotAlways) return trial_;
  if (!cut_) {
    trial_.outcome = unknown_ ? Outcome::kUnknown : Outcome::kAlways;
    return trial_;
  }
  if (unknown_) return trial_;
  ends_only_ = true;
  visits_ = 0;
  point_.clear();
  unsure_ = 0;
  Walk(0);
  for (const Point& start : starts_) {
    if (trial_.outcome == Outcome::kUnknown) Descend(start);
  }
  return trial_;
}

}  // namespace

Step Step::Loop(Var var, Range range) {
  return {Kind::kLoop, std::move(var), std::move(range), nullptr};
}

Step Step::Value(Var var, Expr value) {
  return {Kind::kValue, std::move(var), {}, std::move(value)};
}

Step Step::Condition(Expr condition) {
  return {Kind::kCondition, Var(), {}, std::move(condition)};
}

Trial Try(const Steps& steps, const Expr& slack) {
  if (slack.contents().loads) return {};
  return Search(steps, slack).Run();
}

std::string Describe(const std::vector<std::pair<Var, int64_t>>& instance) {
  return absl::StrJoin(instance, ", ", [](std::string* out, const auto& value) {
    absl::StrAppend(out, value.first.name(), " = ", value.second);
  });
}

}  // namespace kiln::verify_internal
