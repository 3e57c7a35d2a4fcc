// Candidates are numbered: a walk over the program counts the places that could
// be smaller and changes the one that is wanted. Numbers and declared regions
// are changed in the text, where one extent stands in shapes, domains and loops
// alike:
//
//   A: T.Buffer((7, 13), ...)       A: T.Buffer((7, 1), ...)
//   for i, j in T.grid(7, 13):   →  for i, j in T.grid(7, 1):
#include "kiln/tests/fuzz/shrink_program.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {
namespace {

// Makes the statement smaller in place number `wanted`.
class Reduction {
 public:
  explicit Reduction(int wanted) : wanted_(wanted) {}

  bool found() const { return wanted_ < count_; }

  Stmt operator()(const Stmt& s) {
    if (Stmt smaller = Smaller(s)) return smaller;
    return MapChildren(s, [&](const Stmt& child) { return (*this)(child); });
  }

 private:
  bool Take() { return count_++ == wanted_; }

  Stmt Smaller(const Stmt& s) {
    if (const auto* seq = s.As<SeqNode>()) return Without(*seq);
    if (const auto* node = s.As<IfNode>()) {
      if (Take()) return node->then_case;
      if (node->else_case && Take()) return node->else_case;
      if (node->else_case && Take()) {
        return MakeIf(node->condition, node->then_case);
      }
    }
    if (const auto* let = s.As<LetStmtNode>(); let && Take()) {
      return Substitute(let->body, {{let->var.get(), let->value}});
    }
    if (const auto* loop = s.As<ForNode>()) return Smaller(*loop);
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      return Smaller(*realize);
    }
    if (const auto* store = s.As<StoreNode>()) return Smaller(*store);
    return nullptr;
  }

  Stmt Without(const SeqNode& seq) {
    for (size_t i = 0; i < seq.stmts.size(); ++i) {
      if (!Take()) continue;
      std::vector<Stmt> rest = seq.stmts;
      rest.erase(rest.begin() + static_cast<int64_t>(i));
      return MakeSeq(std::move(rest));
    }
    return nullptr;
  }

  Stmt Smaller(const ForNode& loop) {
    if (Take()) return Substitute(loop.body, {{loop.var.get(), loop.min}});
    if (loop.for_kind == ForKind::kSerial || !Take()) return nullptr;
    ForFields fields = loop.fields();
    fields.for_kind = ForKind::kSerial;
    return MakeFor(std::move(fields));
  }

  Stmt Smaller(const BlockRealizeNode& realize) {
    if (!IsOne(realize.predicate) && Take()) {
      return MakeRealize(realize.values, Bool(true), realize.block);
    }
    BlockFields fields = realize.block->fields();
    if (fields.init && Take()) {
      fields.init = nullptr;
    } else if (!fields.annotations.empty() && Take()) {
      fields.annotations.clear();
    } else {
      return nullptr;
    }
    return MakeRealize(realize.values, realize.predicate,
                       MakeBlock(std::move(fields)));
  }

  // An operand in the place of what is made of it, or 1 in that of a load.
  Stmt Smaller(const StoreNode& store) {
    bool done = false;
    const Expr value = Rewrite(store.value, [&](const Expr& e) -> Expr {
      if (done) return e;
      Expr part;
      const bool is_load = e.As<LoadNode>() != nullptr;
      if (is_load && Take()) part = Constant(1, e.dtype());
      MapOperands(e, [&](const Expr& operand) {
        const bool fits = !is_load && operand.dtype() == e.dtype();
        if (!part && fits && Take()) part = operand;
        return operand;
      });
      done = static_cast<bool>(part);
      return part;
    });
    return done ? MakeStore(store.buffer, value, store.indices) : nullptr;
  }

  const int wanted_;
  int count_ = 0;
};

bool UsesBuffer(const Stmt& s, const Buffer& buffer) {
  bool found = false;
  Visit(s, [&](const Stmt& x) {
    const auto* store = x.As<StoreNode>();
    const auto* realize = x.As<BlockRealizeNode>();
    found = found || (store && store->buffer == buffer);
    if (realize) {
      for (const MatchBufferRegion& match : realize->block->match_buffers) {
        found = found || match.source.buffer == buffer;
      }
    }
    return !found;
  });
  VisitExprs(s, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    found = found || (load && load->buffer == buffer);
    return !found;
  });
  return found;
}

// Without the parameter; nullopt where the function uses it.
std::optional<Function> WithoutParam(const Function& f, size_t param) {
  const Param& p = f.params[param];
  bool used = p.buffer && UsesBuffer(f.body, p.buffer);
  VisitExprs(f.body, [&](const Expr& e) {
    used = used || e == p.var;
    return !used;
  });
  if (used) return std::nullopt;
  Function smaller = f;
  smaller.params.erase(smaller.params.begin() + static_cast<int64_t>(param));
  smaller.attrs = {};
  return smaller;
}

std::optional<Function> FromText(const std::string& text) {
  absl::StatusOr<Function> f = ParseFunction("shrunk.py", text);
  if (!f.ok() || !VerifyFunction(*f).ok()) return std::nullopt;
  return *std::move(f);
}

std::string TextOf(const Function& f) {
  return PrintFunction(f, {.header = false});
}

// Without the lines that declare regions of what it touches: they come back as
// they are worked out.
std::string WithoutRegions(const std::string& text) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const absl::string_view bare = absl::StripLeadingAsciiWhitespace(line);
    if (absl::StartsWith(bare, "T.reads(") ||
        absl::StartsWith(bare, "T.writes(")) {
      continue;
    }
    lines.emplace_back(line);
  }
  return absl::StrJoin(lines, "\n");
}

bool IsWordPart(char c) { return std::isalnum(c) || c == '_' || c == '.'; }

// Calls `visit(begin, length)` on each whole number of the text.
void ForEachNumber(const std::string& text,
                   FunctionRef<void(size_t, size_t)> visit) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && std::isdigit(text[end])) ++end;
    const bool whole = end > i && (i == 0 || !IsWordPart(text[i - 1])) &&
                       (end == text.size() || !IsWordPart(text[end]));
    if (whole) visit(i, end - i);
    i = std::max(end, i + 1);
  }
}

std::set<int64_t> NumbersIn(const std::string& text) {
  std::set<int64_t> numbers;
  ForEachNumber(text, [&](size_t begin, size_t length) {
    int64_t value = 0;
    if (absl::SimpleAtoi(text.substr(begin, length), &value) && value > 1) {
      numbers.insert(value);
    }
  });
  return numbers;
}

// Every `from` as `to`.
std::string WithNumber(const std::string& text, int64_t from, int64_t to) {
  std::string changed;
  size_t done = 0;
  ForEachNumber(text, [&](size_t begin, size_t length) {
    if (text.substr(begin, length) != absl::StrCat(from)) return;
    absl::StrAppend(&changed, text.substr(done, begin - done), to);
    done = begin + length;
  });
  return changed + text.substr(done);
}

class Shrinker {
 public:
  Shrinker(Function f, FunctionRef<bool(const Function&)> fails, int asks)
      : f_(std::move(f)), fails_(fails), asks_(asks) {}

  Function Run() {
    bool smaller = true;
    while (smaller && asks_ > 0) {
      smaller = Statements();
      smaller |= Parameters();
      smaller |= Adopt(FromText(WithoutRegions(TextOf(f_))));
      smaller |= Numbers();
    }
    return std::move(f_);
  }

 private:
  // Goes on with the program if it is a smaller one that fails.
  bool Adopt(std::optional<Function> candidate) {
    if (!candidate || asks_ <= 0) return false;
    const std::string text = TextOf(*candidate);
    if (!tried_.insert(text).second) return false;
    const std::optional<Function> read = FromText(text);
    if (!read || --asks_ < 0 || !fails_(*read)) return false;
    f_ = *read;
    return true;
  }

  bool Statements() {
    bool smaller = false;
    for (int place = 0; asks_ > 0;) {
      Reduction reduce(place);
      Function candidate = f_;
      const auto& root = *f_.body.As<BlockRealizeNode>();
      BlockFields fields = root.block->fields();
      fields.body = reduce(fields.body);
      if (!reduce.found()) break;
      std::vector<Buffer> used;
      for (const Buffer& buffer : fields.alloc_buffers) {
        if (UsesBuffer(fields.body, buffer)) used.push_back(buffer);
      }
      fields.alloc_buffers = std::move(used);
      candidate.body =
          MakeRealize({}, Bool(true), MakeBlock(std::move(fields)));
      // What comes after a place moves up when the place is gone.
      if (Adopt(std::move(candidate))) {
        smaller = true;
      } else {
        ++place;
      }
    }
    return smaller;
  }

  bool Parameters() {
    bool smaller = false;
    for (size_t i = f_.params.size(); i-- > 0;) {
      smaller |= Adopt(WithoutParam(f_, i));
    }
    return smaller;
  }

  bool Numbers() {
    bool smaller = false;
    const std::set<int64_t> numbers = NumbersIn(TextOf(f_));
    for (auto n = numbers.rbegin(); n != numbers.rend(); ++n) {
      for (const int64_t to : {int64_t{1}, *n / 2, *n - 1}) {
        if (to < 1 || !Adopt(FromText(WithNumber(TextOf(f_), *n, to)))) {
          continue;
        }
        smaller = true;
        break;
      }
    }
    return smaller;
  }

  Function f_;
  FunctionRef<bool(const Function&)> fails_;
  int asks_;
  std::set<std::string> tried_;
};

}  // namespace

Function ShrinkProgram(Function f, FunctionRef<bool(const Function&)> fails,
                       int asks) {
  return Shrinker(std::move(f), fails, asks).Run();
}

}  // namespace kiln
