// The syntax tree of the Python subset that programs and schedules are
// written in. Nodes are plain values; each knows where it stands in the text.
#ifndef KILN_IR_TEXT_PYTHON_AST_H_
#define KILN_IR_TEXT_PYTHON_AST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/ir/text/python/source.h"

namespace kiln::python {

enum class ExprKind {
  kName,           // text
  kInt,            // text: the digits as they are spelled
  kFloat,          // text: as it is spelled
  kString,         // text: the value, escapes resolved
  kTrue,           //
  kFalse,          //
  kNone,           //
  kEllipsis,       //
  kAttribute,      // items[0] . text
  kCall,           // items[0] ( items[1..] ); see kKeyword and kStarred
  kKeyword,        // text = items[0], only among arguments
  kStarred,        // text ("*" or "**") before items[0]
  kSubscript,      // items[0] [ items[1..] ], one item for each comma part
  kSlice,          // items[0] : items[1] : items[2], each may be kOmitted
  kOmitted,        // a part of a slice that is not there
  kTuple,          // items
  kList,           // items
  kSet,            // items
  kDict,           // items: key, value, key, value, ...
  kLambda,         // lambda names: items[0]; a leading * stays in the name
  kUnary,          // text: + - ~ not
  kBinary,         // text: + - * / // % @ ** << >> & | ^
  kCompare,        // items[0] names[0] items[1] names[1] items[2] ...
  kBoolean,        // text: and, or; two items or more
  kConditional,    // items[0] if items[1] else items[2]
  kComprehension,  // text: its bracket; items: element(s) and clauses
};

struct Expr {
  ExprKind kind = ExprKind::kOmitted;
  int depth = 1;   // of the tree below and with this node
  Position begin;  // where the node stands; for a binary one, its operator
  std::string text;
  std::vector<std::string> names;
  std::vector<Expr> items;

  bool IsName(std::string_view name) const {
    return kind == ExprKind::kName && text == name;
  }
};

// A parameter of a function. A leading * or ** stays in the name; a bare "*"
// or "/" is a parameter of that name.
struct Parameter {
  Position begin;
  std::string name;
  std::optional<Expr> annotation;
  std::optional<Expr> default_value;
};

enum class StmtKind {
  kImport,    // name: the text of the statement
  kClass,     // decorators, name, values (bases), body
  kFunction,  // decorators, name, parameters, annotation (return), body
  kAssign,    // targets = value; several targets for a = b = value
  kAnnotate,  // targets[0] : annotation, with or without "= value"
  kAugment,   // targets[0] name= value; name is the operator without "="
  kExpr,      // value
  kReturn,    // value, if any
  kPass,
  kBreak,
  kContinue,
  kFor,     // for targets[0] in value: body else: orelse
  kWhile,   // while value: body else: orelse
  kIf,      // if value: body else: orelse (an elif is an if in orelse)
  kWith,    // with values[i] as targets[i] (kOmitted where there is no as)
  kAssert,  // assert value, values[0] (message, if any)
  kOther,   // name: del, global, nonlocal, raise; values
  kTry,     // body; orelse: handlers and final block one after the other
};

struct Stmt {
  StmtKind kind = StmtKind::kPass;
  Position begin;
  int last_line = 0;  // the last line that belongs to the statement
  std::string name;
  std::vector<Expr> targets;
  std::optional<Expr> value;
  std::vector<Expr> values;
  std::optional<Expr> annotation;
  std::vector<Expr> decorators;
  std::vector<Parameter> parameters;
  std::vector<Stmt> body;
  std::vector<Stmt> orelse;
};

// "T.axis.remap" for a name with attributes, "" for any other expression.
std::string DottedName(const Expr& expr);

// What a message calls a node of this kind: "a call", "a lambda".
std::string_view DescribeKind(ExprKind kind);

}  // namespace kiln::python

#endif  // KILN_IR_TEXT_PYTHON_AST_H_
