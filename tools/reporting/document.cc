#include "kiln/tools/reporting/document.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/tools/reporting/templates.h"

namespace kiln::report {

std::string_view Template(std::string_view name) {
  const char* text = ReportTemplate(name);
  KILN_CHECK(text != nullptr) << "no template " << std::string(name);
  return text;
}

std::string Document(const std::string& title, const std::string& subtitle,
                     std::string_view body) {
  return Fill(Template("page"), {{"title", Escape(title)},
                                 {"style", std::string(Template("style"))},
                                 {"subtitle", Escape(subtitle)},
                                 {"body", std::string(body)}});
}

std::string MachineText(const Machine& machine) {
  return absl::StrCat(
      machine.cpu.empty() ? "unknown CPU" : machine.cpu, ", ", machine.cores,
      machine.cores == 1 ? " core, " : " cores, ", Short(machine.gflops),
      " GFLOP/s on one, ", Short(machine.all_gflops), " on all");
}

std::string ThreadsText(int threads) {
  return threads == 1 ? "1 thread" : absl::StrCat(threads, " threads");
}

}  // namespace kiln::report
