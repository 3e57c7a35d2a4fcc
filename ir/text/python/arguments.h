// Binds the arguments of a call to the names of its parameters.
#ifndef KILN_IR_TEXT_PYTHON_ARGUMENTS_H_
#define KILN_IR_TEXT_PYTHON_ARGUMENTS_H_

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/source.h"

namespace kiln::python {

class Arguments {
 public:
  // `names` are the parameters in order; a last name "*" takes any number of
  // further positional arguments. A starred list or tuple literal among the
  // arguments counts as its elements. Errors: too many arguments, a name that
  // the callee does not know (the known ones are listed), a parameter given
  // twice. `call` and `source` must outlive the result.
  static absl::StatusOr<Arguments> Bind(
      const Source& source, const Expr& call,
      std::initializer_list<std::string_view> names);

  // The argument, or nullptr where the call leaves it out.
  const Expr* Get(std::string_view name) const;
  // The argument, or nullptr where it is left out or None.
  const Expr* GetUnlessNone(std::string_view name) const;
  // The argument; an error that names it where the call leaves it out.
  absl::StatusOr<const Expr*> Require(std::string_view name) const;
  // What a last name "*" took.
  const std::vector<const Expr*>& rest() const { return rest_; }

 private:
  Arguments(const Source& source, const Expr& call)
      : source_(&source), call_(&call) {}
  absl::Status Positional(const Expr& argument,
                          const std::vector<std::string_view>& names,
                          bool variadic, size_t& next);
  absl::Status Named(const Expr& argument,
                     const std::vector<std::string_view>& names);
  std::string Callee() const;

  const Source* source_;
  const Expr* call_;
  std::map<std::string, const Expr*, std::less<>> given_;
  std::vector<const Expr*> rest_;
};

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_ARGUMENTS_H_
