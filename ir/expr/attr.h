// Attributes: what annotations of loops, blocks, functions and calls hold.
#ifndef KILN_IR_EXPR_ATTR_H_
#define KILN_IR_EXPR_ATTR_H_

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/ir/expr/expr.h"

namespace kiln {

// None, an expression (constants; in traces also variables), a string, a list
// or a dictionary.
struct Attr;
using AttrList = std::vector<Attr>;
using AttrMap = std::map<std::string, Attr>;
struct Attr {
  Attr() = default;
  Attr(Expr e) : value(std::move(e)) {}               // NOLINT
  Attr(std::string text) : value(std::move(text)) {}  // NOLINT
  Attr(AttrList list) : value(std::move(list)) {}     // NOLINT
  Attr(AttrMap map) : value(std::move(map)) {}        // NOLINT
  std::variant<std::monostate, Expr, std::string, AttrList, AttrMap> value;

  bool is_none() const { return value.index() == 0; }
  const Expr* expr() const { return std::get_if<Expr>(&value); }
  const std::string* string() const { return std::get_if<std::string>(&value); }
  const AttrList* list() const { return std::get_if<AttrList>(&value); }
  const AttrMap* map() const { return std::get_if<AttrMap>(&value); }
};
// Annotations in the order in which they print (by key).
using Annotations = AttrMap;

}  // namespace kiln

#endif  // KILN_IR_EXPR_ATTR_H_
