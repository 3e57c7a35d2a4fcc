#include "kiln/ir/text/printer/names.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kiln/ir/text/python/keyword.h"

namespace kiln::script {
namespace {

// Names that mean something else in a script.
bool IsTaken(std::string_view name) {
  for (std::string_view word :
       {"T", "I", "R", "tir", "tirx", "range", "max", "min", "abs"}) {
    if (name == word) return true;
  }
  return python::IsKeyword(name);
}

// "A.shared" becomes A_shared; a leading digit gets an underscore.
std::string Cleaned(std::string_view hint) {
  std::string name;
  for (char c : hint) name.push_back(absl::ascii_isalnum(c) ? c : '_');
  if (name.empty()) name = "v";
  if (absl::ascii_isdigit(name[0])) name.insert(name.begin(), '_');
  return name;
}

}  // namespace

void Names::Pop() {
  for (const Node* node : scopes_.back().nodes) names_.erase(node);
  for (const std::string& name : scopes_.back().taken) taken_.erase(name);
  scopes_.pop_back();
}

std::string Names::Unique(std::string_view hint) const {
  const std::string base = Cleaned(hint);
  std::string name = base;
  for (int i = 1; taken_.count(name) != 0 || IsTaken(name); ++i) {
    name = absl::StrCat(base, "_", i);
  }
  return name;
}

const std::string& Names::Assign(const Node* node, std::string_view hint,
                                 size_t scope) {
  std::string name = Unique(hint);
  taken_.insert(name);
  scopes_[scope].taken.push_back(name);
  scopes_[scope].nodes.push_back(node);
  return names_.insert_or_assign(node, std::move(name)).first->second;
}

const std::string& Names::Define(const Var& var) {
  return Assign(var.get(), var.name(), scopes_.size() - 1);
}

const std::string& Names::Define(const Buffer& buffer) {
  return Assign(buffer.get(), buffer->name, scopes_.size() - 1);
}

const std::string& Names::Define(const Node* node, std::string_view hint) {
  return Assign(node, hint, scopes_.size() - 1);
}

void Names::Alias(const Node* node, std::string text) {
  scopes_.back().nodes.push_back(node);
  names_.insert_or_assign(node, std::move(text));
}

const std::string& Names::Of(const Node* node, std::string_view hint) {
  auto found = names_.find(node);
  return found != names_.end() ? found->second : Assign(node, hint, 0);
}

const std::string& Names::Of(const VarNode* var) { return Of(var, var->name); }

const std::string& Names::Of(const BufferNode* buffer) {
  return Of(buffer, buffer->name);
}

}  // namespace kiln::script
