#include <google/protobuf/struct.pb.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/json.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/reporting/task_data.h"

namespace kiln::report {
namespace {

using google::protobuf::Struct;

std::string TextOf(const Struct& row, const std::string& name) {
  const auto found = row.fields().find(name);
  return found == row.fields().end() ? "" : found->second.string_value();
}

double NumberOf(const Struct& row, const std::string& name) {
  const auto found = row.fields().find(name);
  return found == row.fields().end() ? 0 : found->second.number_value();
}

// nullopt for the setup, for rows of means, and for Kiln's own.
absl::StatusOr<std::optional<PeerTime>> ReadRow(const std::string& line) {
  Struct row;
  if (!FromJson(line, &row).ok()) {
    return absl::InvalidArgumentError("is no JSON object");
  }
  if (row.fields().count("mean") || row.fields().count("setup")) {
    return std::nullopt;
  }
  PeerTime peer;
  peer.contender = TextOf(row, "contender");
  peer.workload =
      absl::StrCat(TextOf(row, "workload"), ":", TextOf(row, "shape"));
  peer.threads = static_cast<int>(NumberOf(row, "threads"));
  peer.seconds = NumberOf(row, "us") * 1e-6;
  if (peer.contender.empty() || peer.workload.size() < 2 ||
      !(peer.seconds > 0) || peer.threads < 1) {
    return absl::InvalidArgumentError(
        "lacks workload, shape, threads, contender or us");
  }
  if (peer.contender.rfind("Kiln", 0) == 0) return std::nullopt;
  return peer;
}

}  // namespace

absl::StatusOr<std::vector<PeerTime>> ReadBenchRows(const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (text.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": the file is empty; one that bench --json printed is wanted"));
  }
  std::vector<PeerTime> peers;
  int number = 0;
  for (const auto line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    absl::StatusOr<std::optional<PeerTime>> row = ReadRow(std::string(line));
    if (!row.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ":", number, ": the line ", std::string(row.status().message()),
          "; a file that bench --json printed is wanted"));
    }
    if (*row) peers.push_back(**row);
  }
  return peers;
}

}  // namespace kiln::report
