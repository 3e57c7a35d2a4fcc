// KILN_CHECK: a condition that only a bug in Kiln can make false.
//
// What a user or a file can cause is an absl::Status instead. A failed check
// prints file, line, condition and message to stderr, and aborts.
#ifndef KILN_BASE_CHECK_H_
#define KILN_BASE_CHECK_H_

#include <sstream>

namespace kiln::base_internal {

// Collects a message and aborts when it goes out of scope.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

}  // namespace kiln::base_internal

#define KILN_CHECK(condition)                              \
  if (__builtin_expect(static_cast<bool>(condition), 1)) { \
  } else /* NOLINT */                                      \
    ::kiln::base_internal::CheckFailure(__FILE__, __LINE__, #condition).stream()

#define KILN_CHECK_EQ(a, b) KILN_CHECK((a) == (b))
#define KILN_CHECK_NE(a, b) KILN_CHECK((a) != (b))
#define KILN_CHECK_LT(a, b) KILN_CHECK((a) < (b))
#define KILN_CHECK_LE(a, b) KILN_CHECK((a) <= (b))
#define KILN_CHECK_GT(a, b) KILN_CHECK((a) > (b))
#define KILN_CHECK_GE(a, b) KILN_CHECK((a) >= (b))

#endif  // KILN_BASE_CHECK_H_
