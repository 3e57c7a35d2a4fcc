#include "kiln/codegen/link/shared_object.h"

#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace kiln {

absl::Status LinkSharedObject(const std::vector<std::string>& objects,
                              const std::string& output,
                              const std::vector<std::string>& options) {
  static auto* const one_at_a_time = new std::mutex;  // lld has globals.
  static bool is_broken = false;
  const std::lock_guard<std::mutex> lock(*one_at_a_time);
  if (is_broken) {
    return absl::InternalError("lld crashed before; start the program again");
  }
  std::vector<const char*> args = {
      "ld.lld",      "-shared",         "-z", "noexecstack",
      "--threads=1", "--build-id=none", "-o", output.c_str()};
  for (const std::string& option : options) args.push_back(option.c_str());
  for (const std::string& object : objects) args.push_back(object.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const lld::Result result =
      lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  is_broken = !result.canRunAgain;
  if (result.retCode == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "cannot link ", output, ": ", absl::StripSuffix(stream.str(), "\n")));
}

}  // namespace kiln
