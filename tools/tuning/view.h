// What `tune` shows while it runs and when it is done.
#ifndef KILN_TOOLS_TUNING_VIEW_H_
#define KILN_TOOLS_TUNING_VIEW_H_

#include <memory>
#include <string>
#include <vector>

#include "kiln/search/space/rule/rule_log.h"
#include "kiln/search/task/task.h"
#include "kiln/tools/tuning/progress.h"
#include "kiln/tools/tuning/ranked_in_model.h"

namespace kiln {

class TuneView {
 public:
  virtual ~TuneView() = default;
  // Before anything else.
  virtual void Limits(const RunLimits&) {}
  // Once for each task, before its first trial.
  virtual void Start(const TuneTask& task, const std::string& target,
                     const std::string& database, const TuneState& state) = 0;
  // After Start, where rules made the task's space.
  virtual void Refused(const TuneState&, const std::vector<RuleRefusal>&) {}
  // A task gets the next batch; the states are of all tasks.
  virtual void Picked(const std::vector<TuneState>&, int /*task*/) {}
  // So many programs were found for a batch; notes are the strategy's.
  virtual void Found(const TuneTask&, const TuneState&, size_t /*programs*/,
                     const std::vector<std::string>& /*notes*/) {}
  // After each trial.
  virtual void Trial(const TuneState& state, const TuningRecord& record) = 0;
  // A task has named its best.
  virtual void Done(const TuneState& state) = 0;
  // The fastest schedules are compared where the model runs them, once all
  // tasks had their trials.
  virtual void ComparingInModel() {}
  virtual void ComparedInModel(const RankedInModel&) {}
  // The run is over.
  virtual void End(const std::vector<TuneState>&) {}
};

// On a terminal one line that is written over again and again, elsewhere a
// plain line now and then; at the end the table of tasks. Quiet: the end only.
std::unique_ptr<TuneView> TextView(bool is_terminal, bool quiet = false);
// A line for each step of the search and for each trial, in the form of
// Ansor's log.
std::unique_ptr<TuneView> VerboseView();
// One JSON object a line, see event.proto. The last has the event "done".
std::unique_ptr<TuneView> JsonView();

// A row for each task in 80 columns, with its best time, GFLOP/s, GB/s and
// share of the peak, and the sums.
std::string ResultTable(const std::vector<TuneState>& states);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_VIEW_H_
