// Several patterns at once, over the bindings of one block, and what is between
// them.
//
//   const Pattern x = Wildcard(), w1 = Wildcard(), w2 = Wildcard();
//   const Pattern query = IsOp("matmul", {x, w1});
//   const Pattern key = IsOp("matmul", {x, w2});
//   PatternContext both;               // products of one input
//   both.Add(query);
//   both.Add(key);
//   both.OnlyUsedBy(query, IsOp("nn.softmax", {}));
#ifndef KILN_IR_PATTERN_PATTERN_CONTEXT_H_
#define KILN_IR_PATTERN_PATTERN_CONTEXT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/pattern/pattern.h"
#include "kiln/ir/pattern/uses.h"

namespace kiln {

constexpr int kAnyArgument = -1;

class PatternContext {
 public:
  // The pattern has to match a variable that the block binds or uses, each
  // added one another variable. One that is there already is added once.
  void Add(const Pattern& pattern);

  // What `user` matches has the value of `value` among its operands, fields of
  // tuples that stand there included: as that argument (ArgumentsOf), from 0,
  // where one is named. Both are added.
  void UsedBy(const Pattern& value, const Pattern& user,
              int argument = kAnyArgument);
  // And nothing uses the value but what the context says: other bindings,
  // results, and shapes in struct info do not.
  void OnlyUsedBy(const Pattern& value, const Pattern& user,
                  int argument = kAnyArgument);
  // Tensors that certainly have one shape.
  void SameShape(std::vector<Pattern> patterns);

  // Goes through the matches in the order of the bindings until one is
  // accepted, and gives whether one was. Values are matched by the first of
  // their names that the bindings have. `uses` is of the function around.
  // ResourceExhausted after kMostTests tests of values.
  absl::StatusOr<bool> Find(const std::vector<graph::Binding>& bindings,
                            const Uses& uses,
                            FunctionRef<bool(const Match&)> accepts) const;

  static constexpr int64_t kMostTests = 20'000'000;

 private:
  class Search;
  struct Edge {
    Pattern value, user;
    int argument;
    bool is_only;
  };

  std::vector<Pattern> patterns_;
  std::vector<Edge> edges_;
  std::vector<std::vector<Pattern>> same_shape_;
};

}  // namespace kiln

#endif  // KILN_IR_PATTERN_PATTERN_CONTEXT_H_
