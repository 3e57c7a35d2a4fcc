// Making patterns of tests.
#ifndef KILN_IR_PATTERN_MAKE_PATTERN_H_
#define KILN_IR_PATTERN_MAKE_PATTERN_H_

#include <functional>

#include "kiln/ir/expr/attr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/pattern/matcher.h"
#include "kiln/ir/pattern/pattern.h"

namespace kiln {

using PatternTest =
    std::function<bool(const graph::Expr& value, Matcher& matcher, Then then)>;

Pattern MakePattern(PatternTest test);
// Of a test that looks at what a variable is bound to (Match::Inner).
Pattern MakeInnerPattern(PatternTest test);
// The pattern, and a test of the same value after it.
Pattern Narrowed(const Pattern& pattern, PatternTest test);

// Whether attributes, which are constants, are equal; an integer is no bool.
bool AreSame(const Attr& a, const Attr& b);
bool AreSame(const AttrMap& a, const AttrMap& b);

}  // namespace kiln

#endif  // KILN_IR_PATTERN_MAKE_PATTERN_H_
