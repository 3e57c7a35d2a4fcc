// The canonical form of a program: bytes that are the same for two programs
// exactly when they are equal up to the names of variables, buffers, loops and
// functions, and up to loop and block ids.
//
// Variables and buffers are numbered by first appearance. Structural equality,
// hashes and content keys all derive from this one form.
#ifndef KILN_IR_TENSOR_CANONICAL_H_
#define KILN_IR_TENSOR_CANONICAL_H_

#include <cstdint>
#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

struct CanonicalOptions {
  // Traces look blocks up by name, so a content key has to tell names apart.
  bool block_names = false;
};

std::string CanonicalForm(const Function& f, CanonicalOptions options = {});
std::string CanonicalForm(const Module& m, CanonicalOptions options = {});
// Free variables and buffers are numbered too.
std::string CanonicalForm(const Stmt& s, CanonicalOptions options = {});
std::string CanonicalForm(const Expr& e);

// Equality up to names and ids.
bool StructurallyEqual(const Function& a, const Function& b);
bool StructurallyEqual(const Module& a, const Module& b);
bool StructurallyEqual(const Stmt& a, const Stmt& b);

// A 64-bit hash of the canonical form. For tables, not for content keys.
uint64_t StructuralHash(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_CANONICAL_H_
