// Gives variables and buffers names that are valid and unique where they live.
#ifndef KILN_IR_TEXT_PRINTER_NAMES_H_
#define KILN_IR_TEXT_PRINTER_NAMES_H_

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kiln/ir/expr/expr.h"

namespace kiln::script {

// A name is free again where the scope of its definition ends, so that two
// blocks can both have a `vi`. A name in use gets a suffix: vi_1.
class Names {
 public:
  Names() { Push(); }
  void Push() { scopes_.emplace_back(); }
  void Pop();

  // Names the variable or buffer in the innermost scope.
  const std::string& Define(const Var& var);
  const std::string& Define(const Buffer& buffer);
  const std::string& Define(const Node* node, std::string_view hint);
  // Spells the variable as `text` (such as A.data) in the innermost scope.
  void Alias(const Var& var, std::string text) {
    Alias(var.get(), std::move(text));
  }
  void Alias(const Node* node, std::string text);

  // The name; what is free in the whole program is named at first use, and
  // keeps that name.
  const std::string& Of(const VarNode* var);
  const std::string& Of(const BufferNode* buffer);
  const std::string& Of(const Node* node, std::string_view hint);

  bool IsDefined(const Node* node) const { return names_.count(node) != 0; }

 private:
  const std::string& Assign(const Node* node, std::string_view hint,
                            size_t scope);
  std::string Unique(std::string_view hint) const;

  struct Scope {
    std::vector<const Node*> nodes;
    std::vector<std::string> taken;
  };
  std::vector<Scope> scopes_;
  std::set<std::string> taken_;
  std::unordered_map<const Node*, std::string> names_;
};

// Pushes a scope for as long as the object lives.
class NamesScope {
 public:
  explicit NamesScope(Names& names) : names_(names) { names_.Push(); }
  ~NamesScope() { names_.Pop(); }
  NamesScope(const NamesScope&) = delete;
  NamesScope& operator=(const NamesScope&) = delete;

 private:
  Names& names_;
};

}  // namespace kiln::script

#endif  // KILN_IR_TEXT_PRINTER_NAMES_H_
