// How patterns match: a test gets what has to match after it, and where that
// fails, tries its next alternative.
//
//   add((a | b), a) on add(y, x): a is y, and then x is no y; so b is y, a is x
#ifndef KILN_IR_PATTERN_MATCHER_H_
#define KILN_IR_PATTERN_MATCHER_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/pattern/pattern.h"

namespace kiln {

using Then = FunctionRef<bool()>;

struct PatternNode {
  // Whether the value matches, and what follows by `then` after it.
  std::function<bool(const graph::Expr& value, Matcher& matcher, Then then)>
      test;
  bool looks_inside = false;  // of what a variable is bound to
};

class Matcher {
 public:
  // `info` is what is known of `root`, which may be a call.
  Matcher(const BoundValues& bound, const graph::Expr& root,
          const graph::StructInfo& info)
      : bound_(bound), root_(root), root_info_(info) {}

  bool Run(const Pattern& pattern, const graph::Expr& value, Then then);
  // As many values as patterns, or more.
  bool RunAll(const std::vector<Pattern>& patterns,
              const std::vector<graph::Expr>& values, Then then);

  // Whether the value matches, with nothing noted of it.
  bool Tries(const Pattern& pattern, const graph::Expr& value);

  // Whether a value whose info is `info` is one of `wanted`, whose variables
  // stand for any extents.
  bool RunInfo(const graph::StructInfo& wanted, const graph::StructInfo& info,
               Then then);
  bool RunScalar(const graph::Scalar& wanted, const graph::Scalar& scalar,
                 Then then);
  bool RunScalars(const std::vector<graph::Scalar>& wanted,
                  const std::vector<graph::Scalar>& scalars, Then then);

  // The value of a variable that is bound; else `e`.
  graph::Expr ValueOf(const graph::Expr& e) const;
  // The variable that `e` is another name of; else `e`.
  graph::Expr NameOf(const graph::Expr& e) const;
  graph::StructInfo InfoOf(const graph::Expr& e) const;
  // Whether both are one value, other names and copies of constants aside.
  bool IsSame(const graph::Expr& a, const graph::Expr& b) const;

  // Whether what was put off, as dimensions were not known yet, holds.
  bool HoldsWhatWasPutOff();
  const Match& match() const { return match_; }
  const BoundValues& bound() const { return bound_; }

  // Notes a value by the variable that it is another name of.
  void set_notes_first_names() { notes_first_names_ = true; }
  // Matching ends, without a match, after so many tests; Charge counts work
  // that was done besides.
  void set_limit(int64_t limit) { limit_ = limit; }
  void Charge(int64_t tests) { tests_ += tests; }
  bool reached_limit() const { return tests_ > limit_; }

 private:
  bool AreEqual(const graph::Scalar& a, const graph::Scalar& b);
  bool RunScalarsFrom(size_t i, const std::vector<graph::Scalar>& wanted,
                      const std::vector<graph::Scalar>& scalars, Then then);
  bool RunAllFrom(size_t i, const std::vector<Pattern>& patterns,
                  const std::vector<graph::Expr>& values, Then then);
  bool RunInfosFrom(size_t i, const std::vector<graph::StructInfo>& wanted,
                    const std::vector<graph::StructInfo>& infos, Then then);
  bool RunTensorInfo(const graph::TensorInfo& wanted,
                     const graph::TensorInfo& tensor, Then then);

  const BoundValues& bound_;
  const graph::Expr root_;
  const graph::StructInfo root_info_;
  Match match_;
  std::vector<std::pair<graph::Scalar, graph::Scalar>> put_off_;
  Analyzer analyzer_;
  bool notes_first_names_ = false;
  int64_t tests_ = 0;
  int64_t limit_ = INT64_MAX;
};

}  // namespace kiln

#endif  // KILN_IR_PATTERN_MATCHER_H_
