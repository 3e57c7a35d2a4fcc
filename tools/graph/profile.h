// How long each call of a run took.
#ifndef KILN_TOOLS_GRAPH_PROFILE_H_
#define KILN_TOOLS_GRAPH_PROFILE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln {

class Profile {
 public:
  // "table", "json" or "chrome"; nullopt for "".
  static absl::StatusOr<std::optional<Profile>> Parse(const std::string& form);

  // For MachineOptions::observe; this outlives it.
  std::function<void(const std::string&, const std::string&, double)>
  Observer();

  // table: callees by their time, with shares. json: a list of objects with
  // "callee", "variable" and "us", in order. chrome: the same as events that
  // chrome://tracing reads.
  std::string Text() const;

 private:
  enum class Form { kTable, kJson, kChrome };
  struct Call {
    std::string callee, label;
    double end_s = 0, seconds = 0;
  };

  explicit Profile(Form form) : form_(form) {}
  std::string Table() const;
  std::string Json() const;
  std::string Chrome() const;

  Form form_;
  std::shared_ptr<std::vector<Call>> calls_ =
      std::make_shared<std::vector<Call>>();
};

}  // namespace kiln

#endif  // KILN_TOOLS_GRAPH_PROFILE_H_
