// What damaged inputs go through. Each function takes the seed of the input and
// returns whether it was accepted to the end; what it may not do is crash.
#ifndef KILN_TESTS_INPUT_FUZZ_TRY_INPUT_H_
#define KILN_TESTS_INPUT_FUZZ_TRY_INPUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kiln {

// The inputs that are damaged: modules as written and as legalized, and the
// executables of some of them.
class InputFuzzer {
 public:
  // `count` modules, those of seed 1 and further.
  explicit InputFuzzer(int count);
  ~InputFuzzer();

  // Text: read, inferred, prepared for the machine, printed.
  bool TryText(uint64_t seed) const;
  // A message with changed fields, or changed bytes: read, as text.
  bool TryMessage(uint64_t seed) const;
  // A message of an executable: read, verified, run on random arguments where
  // its kernels are as they were.
  bool TryExecutable(uint64_t seed) const;
  // The same of a model in a shared object: bytes of the file, or fields of its
  // message and header under a digest that is right. Its code is as it was.
  bool TryModel(uint64_t seed) const;

 private:
  struct Inputs;
  std::unique_ptr<Inputs> inputs_;
};

}  // namespace kiln

#endif  // KILN_TESTS_INPUT_FUZZ_TRY_INPUT_H_
