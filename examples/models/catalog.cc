#include "kiln/examples/models/catalog.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/examples/models/networks.h"

namespace kiln::models {
namespace {

struct Sizes {
  int64_t batch, tokens, length;
};

struct Entry {
  const char* name;
  const char* what;
  Network (*make)(const Sizes& sizes);
  // How many tokens it has positions for; 0: it has none.
  int64_t positions;
  bool has_tokens, has_length;
};

Network EncoderOf(EncoderSizes encoder, const Sizes& sizes) {
  encoder.batch = sizes.batch;
  encoder.tokens = sizes.tokens;
  return Encoder(encoder);
}

constexpr Entry kModels[] = {
    {"resnet50", "ResNet-50 v1.5 for images of 224 x 224",
     [](const Sizes& s) { return ResNet({.batch = s.batch}); }, 0, false,
     false},
    {"mobilenet-v2", "MobileNet-v2 for images of 224 x 224",
     [](const Sizes& s) { return MobileNet({.batch = s.batch}); }, 0, false,
     false},
    {"bert-base", "BERT-base, an encoder of 12 layers, 768 wide",
     [](const Sizes& s) { return EncoderOf({}, s); }, 512, true, false},
    {"minilm6", "MiniLM-6, an encoder of 6 layers, 384 wide",
     [](const Sizes& s) { return EncoderOf(MiniLmSizes(), s); }, 512, true,
     false},
    {"unet", "a U-Net of 5 levels for images of 128 x 128",
     [](const Sizes& s) { return UNet({.batch = s.batch}); }, 0, false, false},
    {"gpt2", "GPT-2 small, one more token after those in a cache",
     [](const Sizes& s) {
       return Decoder({.batch = s.batch, .length = s.length});
     },
     1024, false, true},
};

constexpr int64_t kMostBatch = 4096;

// Reads the text of an extent; `open` gets its name where it is left open.
absl::StatusOr<int64_t> ReadExtent(const std::string& flag,
                                   const std::string& text,
                                   const std::string& name, int64_t most,
                                   std::set<std::string>* open) {
  std::string number = text;
  if (number.compare(0, name.size(), name) == 0) {
    open->insert(name);
    if (number == name) return 1;
    number = number[name.size()] == '=' ? number.substr(name.size() + 1) : "";
  }
  int64_t size = 0;
  if (absl::SimpleAtoi(number, &size) && size >= 1 && size <= most) return size;
  return absl::InvalidArgumentError(absl::StrCat(
      "--", flag, " ", text, " is no extent; it is a number from 1 to ", most,
      ", or \"", name, "\" to leave it open, or \"", name, "=4\""));
}

absl::Status CheckUnused(const Entry& entry, const char* flag, bool is_used,
                         const std::string& text, const std::string& usual) {
  if (is_used || text == usual) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, " is nothing that ", entry.name, " has"));
}

absl::StatusOr<RequestedModel> MakeEntry(const Entry& entry,
                                         const ModelRequest& request) {
  const ModelRequest usual;
  KILN_RETURN_IF_ERROR(CheckUnused(entry, "tokens", entry.has_tokens,
                                   request.tokens, usual.tokens));
  KILN_RETURN_IF_ERROR(CheckUnused(entry, "length", entry.has_length,
                                   request.length, usual.length));
  std::set<std::string> open;
  Sizes sizes{1, 1, 1};
  KILN_ASSIGN_OR_RETURN(
      sizes.batch, ReadExtent("batch", request.batch, "n", kMostBatch, &open));
  if (entry.has_tokens) {
    KILN_ASSIGN_OR_RETURN(
        sizes.tokens,
        ReadExtent("tokens", request.tokens, "t", entry.positions, &open));
  }
  if (entry.has_length) {
    KILN_ASSIGN_OR_RETURN(
        sizes.length,
        ReadExtent("length", request.length, "l", entry.positions - 1, &open));
  }
  return RequestedModel{entry.make(sizes), std::move(open)};
}

}  // namespace

absl::StatusOr<RequestedModel> MakeModel(const ModelRequest& request) {
  for (const Entry& entry : kModels) {
    if (entry.name == request.name) return MakeEntry(entry, request);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no model is called \"", request.name, "\"; there are ",
                   absl::StrJoin(ModelNames(), ", ")));
}

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kModels) names.emplace_back(entry.name);
  return names;
}

std::string ModelHelp() {
  std::string help = "Models:\n";
  for (const Entry& entry : kModels) {
    absl::StrAppendFormat(&help, "  %-13s %s\n", entry.name, entry.what);
  }
  return help;
}

}  // namespace kiln::models
