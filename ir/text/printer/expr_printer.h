// Spells expressions, regions and attributes.
#ifndef KILN_IR_TEXT_PRINTER_EXPR_PRINTER_H_
#define KILN_IR_TEXT_PRINTER_EXPR_PRINTER_H_

#include <string>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"
#include "kiln/ir/text/printer/names.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::script {

class ExprPrinter {
 public:
  ExprPrinter(Names& names, const PrintOptions& options)
      : names_(names),
        newest_(options.spelling == PrintOptions::Spelling::kNewest) {}

  // `typed_by_place`: a plain number read in this place gets the type of `e`
  // (the value of a store, an operand beside one that is no number).
  std::string Print(const Expr& e, bool typed_by_place = false) {
    return Print(e, 0, typed_by_place);
  }
  // i, j:j + 4 in brackets; a vector index as a slice.
  std::string Element(const Buffer& buffer, const std::vector<Expr>& indices);
  std::string Region(const BufferRegion& region);
  // (4, n) or (4,).
  std::string Tuple(const std::vector<Expr>& items);
  std::string Attribute(const Attr& attr);
  std::string AttributeMap(const AttrMap& map);

  bool newest() const { return newest_; }

 private:
  std::string Print(const Expr& e, int precedence, bool typed_by_place);
  std::string Integer(const IntImmNode& imm, bool typed_by_place);
  std::string Operator(const Expr& a, const Expr& b, const std::string& symbol,
                       int level, int precedence, bool chains);
  std::string Binary(const BinaryNode& e, int precedence);
  std::string Call(const CallNode& e, int precedence);
  std::string TypedCall(const CallNode& e);
  std::string Let(const LetNode& e);
  std::string Select(const SelectNode& e);
  std::string Vector(const Expr& e);
  std::string Negation(const NotNode& e, int precedence);
  std::string Index(const Expr& e);

  Names& names_;
  const bool newest_;
};

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_PRINTER_EXPR_PRINTER_H_
