// The statements of the root block are sorted into those whose blocks are all
// marked and the others; a buffer then is constant, prepared (written by the
// former, read by the latter), of one side, or a reason to refuse.
//
//   block "pack", marked: panels = w transposed    block "add": y = x + panels
//     w         a parameter of main_prepare only
//     panels    prepared: a parameter of both, in main at the place of w
//     x, y      parameters of main only
//     main_prepare(w, panels)  main(x, panels, y)
//
// Running prepare and then main is running the function: the marked statements
// read nothing that others write, so that they may all come first.
#include "kiln/ir/transform/split_preparation.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/in_place.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {
namespace {

using Buffers = std::unordered_set<const BufferNode*>;

// The buffers that some statements read and write.
struct Touched {
  Buffers reads, writes;

  bool Uses(const Buffer& buffer) const {
    return reads.count(buffer.get()) || writes.count(buffer.get());
  }
};

// Counts accesses through a match_buffer for its source, too.
void AddSources(const std::vector<const MatchBufferRegion*>& matches,
                Touched* touched) {
  for (auto it = matches.rbegin(); it != matches.rend(); ++it) {
    const BufferNode* source = (*it)->source.buffer.get();
    touched->reads.insert(source);
    if (touched->writes.count((*it)->buffer.get())) {
      touched->writes.insert(source);
    }
  }
}

void AddTouched(const Stmt& s, Touched* touched) {
  std::vector<const MatchBufferRegion*> matches;
  Visit(s, [&](const Stmt& t) {
    if (const auto* store = t.As<StoreNode>()) {
      touched->writes.insert(store->buffer.get());
    }
    if (const auto* realize = t.As<BlockRealizeNode>()) {
      for (const BufferRegion& read : realize->block->reads) {
        touched->reads.insert(read.buffer.get());
      }
      for (const BufferRegion& write : realize->block->writes) {
        touched->writes.insert(write.buffer.get());
      }
      for (const MatchBufferRegion& match : realize->block->match_buffers) {
        matches.push_back(&match);
      }
    }
    ForEachExpr(t, [&](const Expr& use) {
      Visit(use, [&](const Expr& e) {
        if (const auto* load = e.As<LoadNode>()) {
          touched->reads.insert(load->buffer.get());
        }
        return true;
      });
    });
    return true;
  });
  AddSources(matches, touched);
}

// The blocks of `s` that stand in no other one.
std::vector<const BlockNode*> OuterBlocks(const Stmt& s) {
  std::vector<const BlockNode*> blocks;
  Visit(s, [&](const Stmt& t) {
    const auto* realize = t.As<BlockRealizeNode>();
    if (realize) blocks.push_back(realize->block.get());
    return !realize;
  });
  return blocks;
}

std::vector<Stmt> RootStmts(const Function& f) {
  const Stmt& body = f.root().body;
  const auto* seq = body.As<SeqNode>();
  return seq ? seq->stmts : std::vector<Stmt>{body};
}

absl::Status Refuse(const Function& f, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("function ", f.name,
                   " cannot be split into a preparation and the rest: ", why));
}

class Splitter {
 public:
  explicit Splitter(const Function& f) : f_(f) {}

  absl::StatusOr<SplitFunction> Run() {
    KILN_RETURN_IF_ERROR(CheckViews());
    KILN_RETURN_IF_ERROR(Sort());
    KILN_RETURN_IF_ERROR(CheckParams());
    KILN_RETURN_IF_ERROR(SortAllocations());
    CollectParams();
    result_.prepare = Make(f_.name + "_prepare", prepare_, own_);
    result_.main = Make(f_.name, main_, shared_);
    SetParams(result_.prepare_args, &result_.prepare);
    SetParams(result_.main_args, &result_.main);
    if (HasColdConstants(f_)) MarkCold();
    KILN_ASSIGN_OR_RETURN(const std::vector<InPlacePair> pairs,
                          InPlacePairs(f_));
    SetInPlacePairs(&result_.main, MovedPairs(pairs, result_.main_args));
    result_.prepare.attrs.erase("global_symbol");
    for (const Function* half : {&result_.prepare, &result_.main}) {
      if (absl::Status s = VerifyFunction(*half); !s.ok()) {
        return Refuse(f_, std::string(s.message()));
      }
    }
    return std::move(result_);
  }

 private:
  absl::Status CheckViews() const {
    bool has_views = !f_.root().match_buffers.empty();
    Visit(f_.root().body, [&](const Stmt& s) {
      has_views = has_views || s.kind() == StmtKind::kAllocate;
      return !has_views;
    });
    if (!has_views) return absl::OkStatus();
    return Refuse(f_, "it declares other views of its buffers");
  }

  absl::Status Sort() {
    for (const Stmt& s : RootStmts(f_)) {
      const std::vector<const BlockNode*> blocks = OuterBlocks(s);
      const auto marked = std::find_if(
          blocks.begin(), blocks.end(),
          [](const BlockNode* b) { return IsLayoutPreparation(*b); });
      const auto other = std::find_if(
          blocks.begin(), blocks.end(),
          [](const BlockNode* b) { return !IsLayoutPreparation(*b); });
      const bool prepares = marked != blocks.end();
      if (prepares && other != blocks.end()) {
        return Refuse(f_, absl::StrCat("block \"", (*marked)->name,
                                       "\" is marked as a preparation and "
                                       "stands in one loop with \"",
                                       (*other)->name, "\", which is not"));
      }
      (prepares ? prepare_ : main_).push_back(s);
      AddTouched(s, prepares ? &prepared_ : &rest_);
    }
    return absl::OkStatus();
  }

  absl::Status CheckParams() const {
    for (const Param& param : f_.params) {
      const Buffer& buffer = param.buffer;
      if (!buffer || !prepared_.Uses(buffer)) continue;
      if (!IsLayoutFree(f_, buffer)) {
        return Refuse(
            f_, absl::StrCat("the preparation uses parameter ", buffer->name,
                             ", which ", kLayoutFreeBuffers, " does not list"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status SortAllocations() {
    for (const Buffer& buffer : f_.root().alloc_buffers) {
      const bool reads = prepared_.reads.count(buffer.get()) > 0;
      const bool writes = prepared_.writes.count(buffer.get()) > 0;
      if (rest_.writes.count(buffer.get()) && (reads || writes)) {
        return Refuse(
            f_, absl::StrCat("the preparation ", writes ? "writes" : "reads",
                             " buffer ", buffer->name,
                             ", which other blocks write"));
      }
      if (!reads && !writes) {
        shared_.push_back(buffer);
      } else if (rest_.reads.count(buffer.get())) {
        result_.prepared.push_back(buffer);
      } else {
        own_.push_back(buffer);
      }
    }
    return absl::OkStatus();
  }

  // The prepared buffers take the place of the last constant parameter that
  // only the preparation reads, or stand behind all other parameters.
  void CollectParams() {
    const int count = static_cast<int>(f_.params.size());
    int place = count;
    for (int i = 0; i < count; ++i) {
      const Buffer& buffer = f_.params[i].buffer;
      const bool prepares = !buffer || prepared_.Uses(buffer);
      if (prepares) result_.prepare_args.push_back(i);
      if (!buffer || !prepares || rest_.Uses(buffer)) {
        result_.main_args.push_back(i);
      } else {
        place = static_cast<int>(result_.main_args.size());
      }
    }
    std::vector<int> added;
    for (size_t i = 0; i < result_.prepared.size(); ++i) {
      added.push_back(count + static_cast<int>(i));
    }
    std::vector<int>& main = result_.main_args;
    place = std::min(place, static_cast<int>(main.size()));
    main.insert(main.begin() + place, added.begin(), added.end());
    result_.prepare_args.insert(result_.prepare_args.end(), added.begin(),
                                added.end());
  }

  Function Make(std::string name, const std::vector<Stmt>& stmts,
                const std::vector<Buffer>& allocations) const {
    Function half = f_;
    half.name = std::move(name);
    half.attrs.erase(kLayoutFreeBuffers);
    half.attrs.erase(kColdConstants);
    half.attrs.erase(kInPlaceBuffers);
    BlockFields root = f_.root().fields();
    root.alloc_buffers = allocations;
    root.reads.clear();
    root.writes.clear();
    root.body = MakeSeq(stmts);
    half.body = MakeRealize({}, Bool(true), MakeBlock(std::move(root)));
    return half;
  }

  void SetParams(const std::vector<int>& args, Function* half) const {
    const int count = static_cast<int>(f_.params.size());
    half->params.clear();
    for (int arg : args) {
      if (arg < count) {
        half->params.push_back(f_.params[arg]);
        continue;
      }
      const Buffer& buffer = result_.prepared[arg - count];
      half->params.push_back({Var(buffer->name, DType::Handle()), buffer});
    }
  }

  void MarkCold() {
    const int count = static_cast<int>(f_.params.size());
    std::vector<int> cold;
    for (size_t i = 0; i < result_.main_args.size(); ++i) {
      const int arg = result_.main_args[i];
      if (arg >= count || IsLayoutFree(f_, f_.params[arg].buffer)) {
        cold.push_back(static_cast<int>(i));
      }
    }
    SetColdParams(&result_.main, cold);
  }

  const Function& f_;
  std::vector<Stmt> prepare_, main_;
  Touched prepared_, rest_;  // by prepare_ and by main_
  // Allocations that only prepare_ uses, and those that only main_ uses.
  std::vector<Buffer> own_, shared_;
  SplitFunction result_;
};

}  // namespace

bool HasPreparation(const Function& f) {
  if (!f.body || f.body.kind() != StmtKind::kBlockRealize) return false;
  for (const BlockNode* block : OuterBlocks(f.root().body)) {
    if (IsLayoutPreparation(*block)) return true;
  }
  return false;
}

Function WithoutPreparation(Function f) {
  f.body = Rewrite(f.body, [](const Stmt& s) -> Stmt {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize || !IsLayoutPreparation(*realize->block)) return nullptr;
    BlockFields block = realize->block->fields();
    block.annotations.erase(kLayoutPreparation);
    return MakeRealize(realize->values, realize->predicate,
                       MakeBlock(std::move(block)));
  });
  return f;
}

absl::StatusOr<SplitFunction> SplitPreparation(const Function& f) {
  if (!HasPreparation(f)) return Refuse(f, "no block is marked as one");
  return Splitter(f).Run();
}

}  // namespace kiln
