// Between the product and the window are blocks that work element by element
// for these alone, however often they use each other's values, and padding:
//
//   C (product) -> E = C + b -> S = E * sigmoid(E) -> P (padding) -> A (window)
//
// Strips of the window's rows need as many rows of its data as its steps and
// taps reach. The axis of rows is the first one along which steps are no longer
// than taps reach: not that of images, which are apart.
#include "kiln/search/space/rule/strips.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"

namespace kiln {
namespace {

constexpr int64_t kMostTaps = 64;
constexpr int64_t kMostVectors = 4;  // of channels at a time
constexpr int64_t kElementBytes = 4;
// Numbers of channels, and of rows, that are worth trying.
constexpr size_t kWidths = 2, kHeights = 3;

// What the window slides over: of its operands, which all have the channels
// one after the other, the largest.
std::optional<ReadInfo> DataOf(const BlockInfo& window, int columns) {
  const ReadInfo* data = nullptr;
  for (const ReadInfo& read : window.reads) {
    if (read.strides[columns] != 1.0) return std::nullopt;
    if (!data || read.elements > data->elements) data = &read;
  }
  return data ? std::optional(*data) : std::nullopt;
}

double StrideOf(const ReadInfo& data, int axis) {
  return std::abs(data.strides[axis].value_or(0));
}

// Whether steps along a spatial axis are no longer than what some taps reach.
bool Overlaps(const BlockInfo& window, const ReadInfo& data, int axis) {
  const double step = StrideOf(data, axis);
  for (int i = 0; i < static_cast<int>(window.axes.size()); ++i) {
    const AxisInfo& taps = window.axes[i];
    if (taps.reduce && step > 0 &&
        step <= StrideOf(data, i) * static_cast<double>(taps.extent)) {
      return true;
    }
  }
  return false;
}

// The first axis along which taps overlap; -1 where there is none, or where
// they mix channels.
int RowsOf(const BlockInfo& window, const ReadInfo& data) {
  const auto channels = static_cast<double>(data.shape.back());
  int rows = -1;
  for (int i = static_cast<int>(window.axes.size()) - 1; i >= 0; --i) {
    const AxisInfo& axis = window.axes[i];
    if (!data.strides[i] || (axis.reduce && axis.extent > 1 &&
                             std::fmod(StrideOf(data, i), channels) != 0)) {
      return -1;
    }
    if (!axis.reduce && axis.write_dim >= 0 && Overlaps(window, data, i)) {
      rows = i;
    }
  }
  return rows;
}

// Whether the block keeps the order of channels.
bool KeepsColumns(const BlockInfo& info) {
  const int column = info.ContiguousAxis();
  return column >= 0 && absl::c_all_of(info.reads, [&](const ReadInfo& read) {
           return !read.Uses(column) || read.strides[column] == 1.0;
         });
}

using Names = std::set<std::string, std::less<>>;

bool AllIn(const std::vector<std::string>& names, const Names& set) {
  return absl::c_all_of(names,
                        [&](const auto& name) { return set.contains(name); });
}

// What the window reads is made element by element of one product, for it
// alone: `made` gets the blocks that do it, and the window.
std::optional<BlockInfo> FindProduct(const Function& f, const BlockInfo& window,
                                     Names* made) {
  std::optional<BlockInfo> product;
  const std::vector<std::string> all = RootBlocks(f);
  Names wanted(window.producers.begin(), window.producers.end());
  for (auto name = all.rbegin(); name != all.rend(); ++name) {
    if (!wanted.contains(*name)) continue;
    auto at = DescribeBlock(f, *name);
    if (!at || at->is_output || !AllIn(at->consumers, *made)) {
      return std::nullopt;
    }
    if (at->is_elementwise && KeepsColumns(*at)) {
      made->insert(*name);
      wanted.insert(at->producers.begin(), at->producers.end());
    } else if (!product && at->has_init && at->ReduceSize() > 1) {
      product = std::move(at);
    } else {
      return std::nullopt;
    }
  }
  return product;
}

// The names that the set holds, in program order.
std::vector<std::string> InOrder(const Function& f, const Names& names) {
  std::vector<std::string> ordered = RootBlocks(f);
  std::erase_if(ordered,
                [&](const auto& name) { return !names.contains(name); });
  return ordered;
}

// What is done with the window's results, one by one; empty where there is no
// single end of that.
std::vector<std::string> FindBehind(const Function& f,
                                    const BlockInfo& window) {
  Names known = {window.name}, ends;
  std::vector<std::string> behind;
  for (const std::string& name : RootBlocks(f)) {
    const auto at = DescribeBlock(f, name);
    if (!at || !at->is_elementwise || at->has_condition ||
        at->SpatialSize() != window.SpatialSize() || !KeepsColumns(*at) ||
        !absl::c_any_of(at->producers,
                        [&](const auto& p) { return known.contains(p); })) {
      continue;
    }
    known.insert(name);
    behind.push_back(name);
  }
  for (const std::string& name : known) {
    const auto at = DescribeBlock(f, name);
    if (at->is_output || !AllIn(at->consumers, known)) ends.insert(name);
  }
  const bool ends_last =
      !behind.empty() && ends.size() == 1 && ends.contains(behind.back());
  return ends_last ? behind : std::vector<std::string>();
}

// Takes the blocks at the end of `blocks` that choose, as padding does.
std::vector<std::string> TakePadding(const Function& f,
                                     std::vector<std::string>* blocks) {
  std::vector<std::string> padding;
  while (!blocks->empty() && DescribeBlock(f, blocks->back())->has_condition) {
    padding.insert(padding.begin(), blocks->back());
    blocks->pop_back();
  }
  return padding;
}

bool HasColumns(const BlockInfo& info, int64_t count) {
  const int column = info.ContiguousAxis();
  return column >= 0 && info.axes[column].extent == count;
}

// The data of one channel that `height` rows of the window read, in elements.
double DataElements(const Strips& strips, int64_t height) {
  const ReadInfo data = *DataOf(strips.window, strips.columns);
  double reach = static_cast<double>(height - 1) * *data.strides[strips.rows];
  for (size_t i = 0; i < strips.window.axes.size(); ++i) {
    const AxisInfo& axis = strips.window.axes[i];
    const bool is_inside = axis.reduce || (static_cast<int>(i) > strips.rows);
    if (is_inside && static_cast<int>(i) != strips.columns) {
      reach += static_cast<double>(axis.extent - 1) *
               StrideOf(data, static_cast<int>(i));
    }
  }
  const auto channels =
      static_cast<double>(strips.window.axes[strips.columns].extent);
  return reach / channels + 1;
}

}  // namespace

std::optional<Strips> FindStrips(const Function& f, const std::string& name) {
  auto window = DescribeBlock(f, name);
  if (!window || !window->has_init || window->ReduceSize() < 2 ||
      window->ReduceSize() > kMostTaps) {
    return std::nullopt;
  }
  Strips strips;
  strips.columns = window->ContiguousAxis();
  if (strips.columns < 0) return std::nullopt;
  const auto data = DataOf(*window, strips.columns);
  if (!data) return std::nullopt;
  strips.rows = RowsOf(*window, *data);
  if (strips.rows < 0 || strips.rows >= strips.columns) return std::nullopt;
  Names made = {name};
  auto product = FindProduct(f, *window, &made);
  if (!product || !HasColumns(*product, window->axes[strips.columns].extent)) {
    return std::nullopt;
  }
  made.erase(name);
  strips.between = InOrder(f, made);
  strips.padding = TakePadding(f, &strips.between);
  strips.behind = FindBehind(f, *window);
  strips.product = *std::move(product);
  strips.window = *std::move(window);
  return strips;
}

std::vector<int64_t> StripWidths(const Strips& strips,
                                 const RuleContext& context) {
  constexpr int64_t kLine = 64 / kElementBytes;
  const int64_t channels = strips.window.axes[strips.columns].extent;
  const int64_t lanes = context.registers.Floats();
  std::vector<int64_t> widths;
  for (int64_t vectors = 1; vectors <= kMostVectors; ++vectors) {
    const int64_t width = vectors * lanes;
    if (channels % width != 0) continue;
    if (width < kLine && channels % kLine == 0) continue;
    widths.push_back(width);
    if (widths.size() == kWidths) break;
  }
  return widths;
}

std::vector<int64_t> StripHeights(const Strips& strips, int64_t width,
                                  const RuleContext& context) {
  const int64_t rows = strips.window.axes[strips.rows].extent;
  std::vector<int64_t> heights;
  for (int64_t height = rows; height > 0; --height) {
    if (rows % height != 0) continue;
    const double bytes = DataElements(strips, height) *
                         static_cast<double>(width * kElementBytes);
    if (bytes > static_cast<double>(context.near_bytes)) continue;
    heights.push_back(height);
    if (heights.size() == kHeights) break;
  }
  return heights;
}

}  // namespace kiln
