// Arguments of instructions, and the random variables they may name.
#ifndef KILN_SCHEDULE_TRACE_ARG_H_
#define KILN_SCHEDULE_TRACE_ARG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/schedule/rewrite/index_map.h"

namespace kiln {

// What a random variable stands for: a block, a loop, or a sampled integer.
enum class RvKind : uint8_t { kBlock, kLoop, kInt };

// A random variable of a trace by its number. All kinds are numbered together,
// in order of creation: b0, l1, l2, v3, ...
struct Rv {
  RvKind kind = RvKind::kInt;
  int index = -1;
  friend bool operator==(const Rv&, const Rv&) = default;
};

struct Arg;
using ArgList = std::vector<Arg>;
// Keys and values of a dictionary in order.
using ArgDict = std::vector<std::pair<std::string, Arg>>;

// Arithmetic on sampled integers, such as v0 * 4. `op` is + - * / (which
// rounds down) or %.
struct RvArithmetic;
struct IndexMapArg;

// An argument. Integers that are not known before sampling are kInt random
// variables or arithmetic on them.
struct Arg {
  Arg() = default;
  Arg(bool value) : value(value) {}                                    // NOLINT
  Arg(int value) : value(int64_t{value}) {}                            // NOLINT
  Arg(int64_t value) : value(value) {}                                 // NOLINT
  Arg(double value) : value(value) {}                                  // NOLINT
  Arg(const char* text) : value(std::string(text)) {}                  // NOLINT
  Arg(std::string text) : value(std::move(text)) {}                    // NOLINT
  Arg(Rv rv) : value(rv) {}                                            // NOLINT
  Arg(ArgList list) : value(std::move(list)) {}                        // NOLINT
  Arg(ArgDict dict) : value(std::move(dict)) {}                        // NOLINT
  Arg(std::shared_ptr<const RvArithmetic> e) : value(std::move(e)) {}  // NOLINT
  Arg(std::shared_ptr<const IndexMapArg> m) : value(std::move(m)) {}   // NOLINT

  std::variant<std::monostate, bool, int64_t, double, std::string, Rv, ArgList,
               ArgDict, std::shared_ptr<const RvArithmetic>,
               std::shared_ptr<const IndexMapArg>>
      value;

  bool is_none() const { return value.index() == 0; }
  const bool* boolean() const { return std::get_if<bool>(&value); }
  const int64_t* integer() const { return std::get_if<int64_t>(&value); }
  const double* real() const { return std::get_if<double>(&value); }
  const std::string* string() const { return std::get_if<std::string>(&value); }
  const Rv* rv() const { return std::get_if<Rv>(&value); }
  const ArgList* list() const { return std::get_if<ArgList>(&value); }
  const ArgDict* dict() const { return std::get_if<ArgDict>(&value); }
  const RvArithmetic* arithmetic() const {
    const auto* e = std::get_if<std::shared_ptr<const RvArithmetic>>(&value);
    return e ? e->get() : nullptr;
  }
  const IndexMapArg* index_map() const {
    const auto* m = std::get_if<std::shared_ptr<const IndexMapArg>>(&value);
    return m ? m->get() : nullptr;
  }
};

struct RvArithmetic {
  char op;
  Arg a, b;
};

// lambda i, j: (i, j // v4, j % v4), or with `pairs`
// lambda i, j: [(i, i + 1), (j, j + v4)], whose outputs come two by two.
struct IndexMapArg {
  IndexMap map;
  // Variables of the outputs that stand for sampled integers.
  std::vector<std::pair<Var, Rv>> captured;
  bool pairs = false;
};

// Calls `use(Rv&)` on every random variable in an argument.
template <typename F>
void ForEachRv(const Arg& arg, const F& use) {
  if (arg.rv()) use(*arg.rv());
  if (arg.list()) {
    for (const Arg& item : *arg.list()) ForEachRv(item, use);
  }
  if (arg.dict()) {
    for (const auto& [key, item] : *arg.dict()) ForEachRv(item, use);
  }
  if (const RvArithmetic* e = arg.arithmetic()) {
    ForEachRv(e->a, use);
    ForEachRv(e->b, use);
  }
  if (const IndexMapArg* map = arg.index_map()) {
    for (const auto& [var, rv] : map->captured) use(rv);
  }
}

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_ARG_H_
