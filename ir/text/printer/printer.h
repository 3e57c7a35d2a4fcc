// Prints programs as TVMScript.
//
// The default spelling is the classic one (T.block, T.alloc_buffer); the
// newest is that of recent printers (T.sblock, T.prim_func(s_tir=True)). The
// text is what TVM's printer gives, but for int64 constants, which stand plain
// since every index is int64. Reading the text gives a structurally equal
// program.
#ifndef KILN_IR_TEXT_PRINTER_PRINTER_H_
#define KILN_IR_TEXT_PRINTER_PRINTER_H_

#include <cstdint>
#include <string>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

struct PrintOptions {
  enum class Spelling { kClassic, kNewest };
  Spelling spelling = Spelling::kClassic;
  // The comment lines that say where T and I come from.
  bool header = true;
  // Constants of graph functions with more elements have a place only:
  // metadata["relax.expr.Constant"][0].
  int64_t max_constant_elements = 64;
};

std::string PrintModule(const Module& module, const PrintOptions& options = {});
// The function alone, as a decorated `def`.
std::string PrintFunction(const Function& function,
                          const PrintOptions& options = {});
// A graph function in a module of its own.
std::string PrintGraphFunction(const graph::FunctionNode& function,
                               const PrintOptions& options = {});
// A fragment. What it uses but does not define goes by its own name. These
// are for messages; a fragment is not read back.
std::string PrintStmt(const Stmt& stmt, const PrintOptions& options = {});
std::string PrintExpr(const Expr& expr, const PrintOptions& options = {});
std::string PrintRegion(const BufferRegion& region,
                        const PrintOptions& options = {});
// Without the bodies of functions and branches.
std::string PrintGraphExpr(const graph::Expr& expr,
                           const PrintOptions& options = {});
std::string PrintStructInfo(const graph::StructInfo& info,
                            const PrintOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TEXT_PRINTER_PRINTER_H_
