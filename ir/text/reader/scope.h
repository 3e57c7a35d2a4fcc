// What the names of a program stand for, and where.
#ifndef KILN_IR_TEXT_READER_SCOPE_H_
#define KILN_IR_TEXT_READER_SCOPE_H_

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/reader/value.h"

namespace kiln::script {

// A variable or number, a buffer, or a constant of the script around the
// program: a string, a tuple or a list, kept as syntax.
using Binding = std::variant<Value, Buffer, python::Expr>;

class Scope {
 public:
  Scope() { Push(); }
  void Push() { levels_.emplace_back(); }
  void Pop() { levels_.pop_back(); }

  // Binds in the innermost level; an earlier binding there is replaced.
  void Bind(const std::string& name, Binding binding);
  // The innermost binding of the name, or nullptr.
  const Binding* Find(std::string_view name) const;
  // "; did you mean `vi`?" for the closest known name, or "".
  std::string Suggestion(std::string_view name) const;

 private:
  std::vector<std::map<std::string, Binding, std::less<>>> levels_;
};

// Pushes a level for as long as the object lives.
class ScopeLevel {
 public:
  explicit ScopeLevel(Scope& scope) : scope_(scope) { scope_.Push(); }
  ~ScopeLevel() { scope_.Pop(); }
  ScopeLevel(const ScopeLevel&) = delete;
  ScopeLevel& operator=(const ScopeLevel&) = delete;

 private:
  Scope& scope_;
};

// The candidate that differs least from `name`, if it is close; else "".
std::string ClosestName(std::string_view name,
                        const std::vector<std::string_view>& candidates);

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_READER_SCOPE_H_
