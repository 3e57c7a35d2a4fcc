// Text that JSON can hold.
#ifndef KILN_SEARCH_DATABASE_UTF8_H_
#define KILN_SEARCH_DATABASE_UTF8_H_

#include <string>

namespace kiln {

// `text` with '?' in place of bytes that are no UTF-8; what a dying worker or a
// damaged object says may hold some.
std::string ValidUtf8(const std::string& text);

}  // namespace kiln

#endif  // KILN_SEARCH_DATABASE_UTF8_H_
