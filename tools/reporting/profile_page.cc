#include "kiln/tools/reporting/profile_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kiln/tools/reporting/document.h"
#include "kiln/tools/reporting/html.h"
#include "kiln/tools/reporting/profile_panels.h"

namespace kiln::report {
namespace {

std::string Count(size_t n, const std::string& what) {
  return absl::StrCat(n, " ", what, n == 1 ? "" : "s");
}

// What is not between calls: the machine's own work, and the clock's.
std::string OutsideText(const ProfileData& data) {
  const double outside = data.profile.run_s - data.seconds;
  if (data.profile.run_s <= 0 || outside <= 0) return "";
  return absl::StrFormat(" (%.1f %% of the run)",
                         100 * data.seconds / data.profile.run_s);
}

std::string RunText(const ProfileData& data) {
  const Profile& profile = data.profile;
  if (profile.run_s <= 0) return "";
  return absl::StrCat(
      profile.function.empty() ? "A run" : profile.function, " takes ",
      Duration(profile.run_s), ", the median of ", Count(profile.runs, "run"),
      profile.threads > 0 ? " on " + ThreadsText(profile.threads) : "", ". ");
}

std::string RooflineText(const ProfileData& data) {
  if (data.RooflineShare() <= 0) {
    return "What the calls have to do is not known; executables of earlier "
           "versions do not tell it.";
  }
  const double known = data.KnownShare();
  return absl::StrFormat(
      "%s at %.1f %% of the roofline.",
      known > 0.9995 ? std::string("Together they are")
                     : absl::StrFormat("Those whose operations are known (%.1f "
                                       "%% of the time) are",
                                       100 * known),
      100 * data.RooflineShare());
}

std::string BarsText(bool is_compared) {
  return absl::StrCat(
      "The ops that take longest; in blue, the least time that the machine "
      "allows.",
      is_compared ? " Above, in brown, the time before." : "");
}

std::string WarningsHtml(const ProfileData& data) {
  std::string html;
  for (const std::string& warning : data.warnings) {
    absl::StrAppend(&html, "<p class=\"slower\">", Escape(warning), "</p>\n");
  }
  return html;
}

constexpr char kRooflineNote[] =
    "The least time of a call is that of its operations at the peak "
    "of float32, or of its tensors, each moved once from the nearest memory "
    "that holds all of them; the limit says which of these. ≤ stands before "
    "what follows from an upper bound.";

}  // namespace

std::string ProfileSummary(const ProfileData& data) {
  return absl::StrCat(RunText(data), Count(data.calls.size(), "call"), " of ",
                      Count(data.ops.size(), "op"), " take ",
                      Duration(data.seconds), OutsideText(data), ". ",
                      RooflineText(data));
}

std::string RenderProfilePage(const ProfileData& data,
                              const ProfilePageOptions& options) {
  const ProfileComparison* const against =
      options.against ? &*options.against : nullptr;
  const std::string body =
      Fill(Template("profile"),
           {{"path", Escape(data.path)},
            {"summary", Escape(ProfileSummary(data))},
            {"target", Escape(data.profile.target)},
            {"warnings", WarningsHtml(data)},
            {"bars_text", BarsText(against != nullptr)},
            {"bars", TimeBars(data, against)},
            {"roofline_text",
             "A dot for each op, the longest one in blue; roofs for where its "
             "tensors may lie."},
            {"roofline", ProfileRoofline(data)},
            {"ops", OpTable(data)},
            {"note", kRooflineNote},
            {"against",
             against ? ComparisonHtml(*against, options.against_name) : ""},
            {"calls", CallTable(data)}});
  return Document(options.title, MachineText(data.machine), body);
}

}  // namespace kiln::report
