// A reader that goes through the lines of a file once: `case` begins a case,
// `run` a run of it, and what a line begins with says what it adds to them.
//
//   in float32[2] 1 nan    a value: its kind, and what the kind needs
#include "kiln/tests/op_values/case.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/ndarray/element.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::op_values {
namespace {

using Words = std::vector<absl::string_view>;

Words WordsOf(absl::string_view text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

absl::Status Bad(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(what, ": \"", text, "\""));
}

absl::StatusOr<double> RealOf(absl::string_view word) {
  double value = 0;
  if (!absl::SimpleAtod(word, &value)) return Bad("not a number", word);
  return value;
}

absl::StatusOr<std::vector<int64_t>> WholeNumbers(const Words& words) {
  std::vector<int64_t> numbers;
  for (absl::string_view word : words) {
    if (!absl::SimpleAtoi(absl::StripSuffix(word, ","),
                          &numbers.emplace_back())) {
      return Bad("not an integer", word);
    }
  }
  return numbers;
}

// Integers of 64 bits are exact.
absl::Status Store(const NDArray& to, int64_t index, absl::string_view word) {
  if (to.dtype() == DType::Int(64)) {
    return absl::SimpleAtoi(word, &to.data_as<int64_t>()[index])
               ? absl::OkStatus()
               : Bad("not an integer", word);
  }
  if (to.dtype() == DType::UInt(64)) {
    return absl::SimpleAtoi(word, &to.data_as<uint64_t>()[index])
               ? absl::OkStatus()
               : Bad("not an integer", word);
  }
  KILN_ASSIGN_OR_RETURN(const double value, RealOf(word));
  StoreElement(to.data(), to.dtype(), index, value);
  return absl::OkStatus();
}

// "float32[2, 3] 1 2 3 4 5 6"
absl::StatusOr<vm::Value> TensorOf(absl::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  if (open == text.npos || close == text.npos || close < open) {
    return Bad("not a value", text);
  }
  const auto dtype = DType::FromString(std::string(text.substr(0, open)));
  if (!dtype) return Bad("not a type", text);
  KILN_ASSIGN_OR_RETURN(
      std::vector<int64_t> shape,
      WholeNumbers(WordsOf(text.substr(open + 1, close - open - 1))));
  KILN_ASSIGN_OR_RETURN(const NDArray array,
                        NDArray::Empty(std::move(shape), *dtype));
  const Words elements = WordsOf(text.substr(close + 1));
  if (static_cast<int64_t>(elements.size()) != array.num_elements()) {
    return Bad("not as many elements as the shape has", text);
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    KILN_RETURN_IF_ERROR(Store(array, static_cast<int64_t>(i), elements[i]));
  }
  return vm::Value(array);
}

class Reader {
 public:
  explicit Reader(absl::string_view text)
      : lines_(absl::StrSplit(text, '\n')) {}

  absl::Status ReadTo(std::vector<Case>& cases) {
    while (at_ < lines_.size()) KILN_RETURN_IF_ERROR(Line(cases));
    return absl::OkStatus();
  }

  size_t line() const { return at_; }

 private:
  absl::Status Line(std::vector<Case>& cases) {
    const absl::string_view line = lines_[at_++];
    if (line.empty() || absl::StartsWith(line, "#")) return absl::OkStatus();
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "case ")) {
      Case& added = cases.emplace_back();
      added.op = std::string(rest.substr(0, rest.find(' ')));
      added.name =
          std::string(rest.substr(std::min(added.op.size() + 1, rest.size())));
      added.program = "@R.function\n";
      return absl::OkStatus();
    }
    if (cases.empty()) return Bad("no case is open", line);
    Case& open = cases.back();
    if (absl::ConsumePrefix(&rest, "| ")) {
      absl::StrAppend(&open.program, rest, "\n");
      return absl::OkStatus();
    }
    if (absl::ConsumePrefix(&rest, "tolerance ")) return Within(rest, open);
    if (line == "run") {
      open.runs.emplace_back();
      return absl::OkStatus();
    }
    if (open.runs.empty()) return Bad("no run is open", line);
    return Add(line, open.runs.back());
  }

  absl::Status Within(absl::string_view text, Case& open) {
    const Words words = WordsOf(text);
    if (words.size() != 2) return Bad("not a tolerance", text);
    open.tolerance.emplace();
    KILN_ASSIGN_OR_RETURN(open.tolerance->rtol, RealOf(words[0]));
    KILN_ASSIGN_OR_RETURN(open.tolerance->atol, RealOf(words[1]));
    return absl::OkStatus();
  }

  absl::Status Add(absl::string_view line, Run& run) {
    if (absl::ConsumePrefix(&line, "in ")) {
      KILN_ASSIGN_OR_RETURN(run.inputs.emplace_back(), ValueOf(line, "in "));
      return absl::OkStatus();
    }
    if (!absl::ConsumePrefix(&line, "out ")) return Bad("unknown line", line);
    KILN_ASSIGN_OR_RETURN(run.output, ValueOf(line, "out "));
    return absl::OkStatus();
  }

  // Fields of tuples are on the lines that follow.
  absl::StatusOr<vm::Value> ValueOf(absl::string_view text,
                                    absl::string_view prefix) {
    if (absl::ConsumePrefix(&text, "float ")) return RealOf(text);
    const bool is_integer = absl::ConsumePrefix(&text, "integer ");
    const bool is_shape = !is_integer && absl::ConsumePrefix(&text, "shape");
    const bool is_tuple = !is_shape && absl::ConsumePrefix(&text, "tuple ");
    if (!is_integer && !is_shape && !is_tuple) return TensorOf(text);
    KILN_ASSIGN_OR_RETURN(std::vector<int64_t> numbers,
                          WholeNumbers(WordsOf(text)));
    if (is_shape) return vm::Value(vm::MakeShape(std::move(numbers)));
    if (numbers.size() != 1) return Bad("not one number", text);
    if (is_integer) return vm::Value(numbers[0]);
    std::vector<vm::Value> fields;
    for (int64_t i = 0; i < numbers[0]; ++i) {
      if (at_ == lines_.size()) return Bad("a field is missing", text);
      absl::string_view line = lines_[at_++];
      if (!absl::ConsumePrefix(&line, prefix)) return Bad("not a field", line);
      KILN_ASSIGN_OR_RETURN(fields.emplace_back(), ValueOf(line, prefix));
    }
    return vm::Value(vm::MakeTuple(std::move(fields)));
  }

  std::vector<absl::string_view> lines_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Case>> ReadCases(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  if (error) {
    return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const std::string& path : paths) {
    KILN_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    Reader reader(text);
    const absl::Status read = reader.ReadTo(cases);
    if (read.ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", reader.line(), ": ", read.message()));
  }
  return cases;
}

// Products of float32 are summed in another order than NumPy's, those of
// narrow floats rounded at other places.
Tolerance ToleranceOf(DType dtype) {
  if (!dtype.is_float()) return {};
  if (dtype.bits() == 64) return {1e-10, 1e-12};
  if (dtype.bits() == 32) return {2e-5, 2e-6};
  return dtype == DType::BFloat16() ? Tolerance{2e-2, 1e-2}
                                    : Tolerance{3e-3, 1e-3};
}

}  // namespace kiln::op_values
