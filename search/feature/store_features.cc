#include "kiln/search/feature/store_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace kiln {
namespace {

// --- Names.

constexpr int kNumPositions = 8;
constexpr const char* kPositions[kNumPositions] = {
    "none",         "inner_spatial", "middle_spatial", "outer_spatial",
    "inner_reduce", "middle_reduce", "outer_reduce",   "mixed"};
constexpr const char* kAnnotated[] = {"vectorize", "unroll", "parallel"};
constexpr const char* kThreads[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                    "threadIdx.x", "threadIdx.y", "threadIdx.z",
                                    "vthread"};
constexpr const char* kOfBuffer[] = {"is_read",
                                     "is_written",
                                     "is_read_written",
                                     "bytes",
                                     "unique_bytes",
                                     "lines",
                                     "unique_lines",
                                     "reuse_in_loop",
                                     "reuse_in_series",
                                     "no_reuse",
                                     "reuse_iterations",
                                     "reuse_bytes",
                                     "reuse_count",
                                     "bytes_per_reuse",
                                     "unique_bytes_per_reuse",
                                     "lines_per_reuse",
                                     "unique_lines_per_reuse",
                                     "stride"};

std::vector<std::string> MakeNames() {
  std::vector<std::string> names;
  for (int i = 0; i < kNumOpClasses; ++i) {
    names.emplace_back(OpClassName(static_cast<OpClass>(i)));
  }
  for (const std::string kind : kAnnotated) {
    names.push_back(kind + ".loops");
    names.push_back(kind + ".product");
    names.push_back(kind + ".innermost");
    for (const char* at : kPositions) names.push_back(kind + "." + at);
  }
  for (const char* thread : kThreads) names.emplace_back(thread);
  names.emplace_back("is_gpu");
  for (int i = 0; i < kBuffersPerStore; ++i) {
    for (const char* what : kOfBuffer) {
      names.push_back("buffer" + std::to_string(i) + "." + what);
    }
  }
  for (int i = 0; i < kIntensitySamples; ++i) {
    names.push_back("intensity" + std::to_string(i));
  }
  for (const char* name : {"alloc.bytes", "alloc.elements", "alloc.iterations",
                           "alloc.total_bytes", "nest.iterations", "nest.loops",
                           "nest.unroll_steps"}) {
    names.emplace_back(name);
  }
  return names;
}

// --- Values.

// Products of extents are cut off here.
constexpr double kMost = 1e60;

// Writes a row from left to right.
class Row {
 public:
  explicit Row(float* out) : out_(out) {}
  void Flag(bool value) { *out_++ = value ? 1.0f : 0.0f; }
  void Value(double x) {
    const double size = std::log2(1 + std::min(std::abs(x), kMost));
    *out_++ = static_cast<float>(x < 0 ? -size : size);
  }
  void Zeros(int count) {
    for (int i = 0; i < count; ++i) *out_++ = 0;
  }

 private:
  float* out_;
};

// What an access touches from some depth on.
struct Touched {
  double bytes = 0;  // different ones
  double lines = 0;
};

struct BufferNumbers {
  const AccessSummary* access = nullptr;
  double bytes = 0, unique_bytes = 0, lines = 0, unique_lines = 0;
  enum { kNone, kLoop, kSeries } reuse = kNone;
  double reuse_iterations = 0, reuse_bytes = 0, reuse_count = 0;
  double stride = 0;
};

class StoreRow {
 public:
  StoreRow(const ProgramSummary& program, int store, int line_bytes)
      : program_(program),
        index_(store),
        store_(program.stores[store]),
        line_(line_bytes) {}

  void Write(Row* row) {
    iterations_ = store_.share * Product(0);
    for (const AccessSummary& access : store_.accesses) Touch(access);
    WriteOps(row);
    WriteAnnotated(ForKind::kVectorized, row);
    WriteAnnotated(ForKind::kUnrolled, row);
    WriteAnnotated(ForKind::kParallel, row);
    WriteThreads(row);
    WriteBuffers(row);
    WriteIntensity(row);
    WriteAllocation(row);
    WriteNest(row);
  }

 private:
  int depth() const { return static_cast<int>(store_.loops.size()); }
  const LoopSummary& loop(int position) const {
    return program_.loops[store_.loops[position]];
  }
  double Product(int first) const {
    double product = 1;
    for (int i = first; i < depth(); ++i) {
      product *= static_cast<double>(loop(i).extent);
    }
    return std::min(product, kMost);
  }

  void Touch(const AccessSummary& access);
  Touched TouchedAt(const BufferSummary& buffer, const AccessSummary& access,
                    const double* spans, const double* points) const;
  double StrideOf(const AccessSummary& access, int position) const;
  BufferNumbers NumbersOf(int access);
  void SetReuse(int access, BufferNumbers* out) const;
  double BytesInside(int depth) const;

  void WriteOps(Row* row) const;
  void WriteAnnotated(ForKind kind, Row* row) const;
  void WriteThreads(Row* row) const;
  void WriteBuffers(Row* row);
  static void WriteBuffer(const BufferNumbers& numbers, Row* row);
  void WriteIntensity(Row* row) const;
  void WriteAllocation(Row* row) const;
  void WriteNest(Row* row) const;

  const ProgramSummary& program_;
  int index_;
  const StoreSummary& store_;
  double line_;
  double iterations_ = 1;
  // Of the accesses, one after the other: by depth, to that of one iteration.
  std::vector<Touched> touched_;
};

// Elements next to each other: the last dimension, and those before it as long
// as the later ones are touched in full.
Touched StoreRow::TouchedAt(const BufferSummary& buffer,
                            const AccessSummary& access, const double* spans,
                            const double* points) const {
  double run = buffer.element_bytes, rows = 1, elements = 1, in_run = 1;
  bool open = true;
  for (size_t i = access.dims.size(); i-- > 0;) {
    elements *= points[i];
    if (!open) {
      rows *= points[i];
      continue;
    }
    run *= spans[i];
    in_run *= points[i];
    open = i < buffer.extents.size() &&
           spans[i] >= static_cast<double>(buffer.extents[i]);
  }
  return {elements * buffer.element_bytes,
          rows * std::min(in_run, std::ceil(run / line_))};
}

void StoreRow::Touch(const AccessSummary& access) {
  const BufferSummary& buffer = program_.buffers[access.buffer];
  const size_t begin = touched_.size();
  touched_.resize(begin + depth() + 1);
  const size_t rank = access.dims.size();
  absl::InlinedVector<double, 6> limit(rank), reach(rank), count(rank),
      spans(rank), points(rank);
  for (size_t i = 0; i < rank; ++i) {
    limit[i] =
        i < buffer.extents.size() ? static_cast<double>(buffer.extents[i]) : 1;
    reach[i] = count[i] = access.dims[i].unknown
                              ? limit[i]
                              : std::min(access.dims[i].width, limit[i]);
    spans[i] = points[i] = reach[i];
  }
  touched_[begin + depth()] =
      TouchedAt(buffer, access, spans.data(), points.data());
  for (int d = depth() - 1; d >= 0; --d) {
    bool moved = false;
    for (size_t i = 0; i < rank; ++i) {
      for (const ApproximateTerm& term : access.dims[i].terms) {
        if (program_.loops[term.loop].depth != d) continue;
        const double extent = static_cast<double>(loop(d).extent);
        reach[i] += term.reach;
        count[i] *= std::min(extent, 1 + term.reach);
        spans[i] = std::min(limit[i], std::floor(reach[i] + 1e-6));
        points[i] = std::min(count[i], spans[i]);
        moved = true;
      }
    }
    touched_[begin + d] =
        moved ? TouchedAt(buffer, access, spans.data(), points.data())
              : touched_[begin + d + 1];
  }
}

double StoreRow::StrideOf(const AccessSummary& access, int position) const {
  const BufferSummary& buffer = program_.buffers[access.buffer];
  double stride = 0, row = 1;
  for (size_t i = access.dims.size(); i-- > 0;) {
    for (const ApproximateTerm& term : access.dims[i].terms) {
      if (program_.loops[term.loop].depth == position) {
        stride += term.coefficient * row;
      }
    }
    if (i < buffer.extents.size()) {
      row *= static_cast<double>(buffer.extents[i]);
    }
  }
  return stride;
}

double StoreRow::BytesInside(int at) const {
  double bytes = 0;
  for (size_t a = 0; a < store_.accesses.size(); ++a) {
    bytes += touched_[a * (depth() + 1) + at].bytes;
  }
  return bytes;
}

// Data are used again by the innermost loop that leaves the access where it
// is, or else by a later store next to this one.
void StoreRow::SetReuse(int access, BufferNumbers* out) const {
  for (int d = depth() - 1; d >= 0; --d) {
    if (loop(d).extent == 1 || StrideOf(*out->access, d) != 0) continue;
    out->reuse = BufferNumbers::kLoop;
    out->reuse_iterations = Product(d + 1);
    out->reuse_bytes = BytesInside(d + 1);
    out->reuse_count = static_cast<double>(loop(d).extent);
    return;
  }
  const int buffer = store_.accesses[access].buffer;
  for (int s = index_ - 1; s >= 0; --s) {
    const StoreSummary& other = program_.stores[s];
    for (const AccessSummary& earlier : other.accesses) {
      if (earlier.buffer != buffer) continue;
      out->reuse = BufferNumbers::kSeries;
      out->reuse_iterations = iterations_;
      out->reuse_bytes = BytesInside(0);
      out->reuse_count = 1;
      return;
    }
  }
}

BufferNumbers StoreRow::NumbersOf(int access) {
  BufferNumbers out;
  out.access = &store_.accesses[access];
  const Touched& all = touched_[access * (depth() + 1)];
  const double element = program_.buffers[out.access->buffer].element_bytes;
  out.bytes = iterations_ * out.access->count * element;
  out.unique_bytes = all.bytes;
  out.unique_lines = all.lines;
  for (int d = depth() - 1; d >= 0 && out.stride == 0; --d) {
    if (loop(d).extent > 1) out.stride = StrideOf(*out.access, d);
  }
  // The innermost loop meets a line several times where its step is short.
  const double step =
      out.stride == 0 ? 0
                      : std::min(1.0, std::abs(out.stride) * element / line_);
  out.lines = std::max(out.unique_lines, iterations_ * out.access->count *
                                             (depth() == 0 ? 1 : step));
  SetReuse(access, &out);
  return out;
}

void StoreRow::WriteOps(Row* row) const {
  for (double count : store_.ops) row->Value(count * iterations_);
}

void StoreRow::WriteAnnotated(ForKind kind, Row* row) const {
  int loops = 0, at = 0;
  double product = 1, innermost = 0;
  int first[4] = {-1, -1, -1, -1}, last[4] = {-1, -1, -1, -1};
  int chosen = -1;
  for (int i = 0; i < depth(); ++i) {
    const int role = static_cast<int>(store_.roles[i]);
    if (first[role] < 0) first[role] = i;
    last[role] = i;
    if (loop(i).kind != kind) continue;
    ++loops;
    innermost = static_cast<double>(loop(i).extent);
    product *= innermost;
    chosen = i;
  }
  if (chosen >= 0) {
    const LoopRole role = store_.roles[chosen];
    const int of_role = static_cast<int>(role);
    const int place = chosen == last[of_role]    ? 0
                      : chosen == first[of_role] ? 2
                                                 : 1;
    switch (role) {
      case LoopRole::kSpatial:
        at = 1 + place;
        break;
      case LoopRole::kReduce:
        at = 4 + place;
        break;
      case LoopRole::kNone:
      case LoopRole::kMixed:
        at = 7;
    }
  }
  row->Value(loops);
  row->Value(loops == 0 ? 0 : product);
  row->Value(innermost);
  for (int i = 0; i < kNumPositions; ++i) row->Flag(i == at);
}

void StoreRow::WriteThreads(Row* row) const {
  bool gpu = false;
  for (const std::string_view thread : kThreads) {
    double extent = 1;
    for (int i = 0; i < depth(); ++i) {
      if (loop(i).kind != ForKind::kThreadBinding) continue;
      gpu = true;
      if (loop(i).thread_tag.substr(0, thread.size()) == thread) {
        extent *= static_cast<double>(loop(i).extent);
      }
    }
    row->Value(extent - 1);
  }
  row->Flag(gpu);
}

void StoreRow::WriteBuffer(const BufferNumbers& n, Row* row) {
  const bool reads = n.access->reads, writes = n.access->writes;
  row->Flag(reads && !writes);
  row->Flag(writes && !reads);
  row->Flag(reads && writes);
  row->Value(n.bytes);
  row->Value(n.unique_bytes);
  row->Value(n.lines);
  row->Value(n.unique_lines);
  row->Flag(n.reuse == BufferNumbers::kLoop);
  row->Flag(n.reuse == BufferNumbers::kSeries);
  row->Flag(n.reuse == BufferNumbers::kNone);
  row->Value(n.reuse_iterations);
  row->Value(n.reuse_bytes);
  row->Value(n.reuse_count);
  // Data that nobody uses again cost as if they were used half a time.
  const double uses = n.reuse_count > 0 ? n.reuse_count : 0.5;
  row->Value(n.bytes / uses);
  row->Value(n.unique_bytes / uses);
  row->Value(n.lines / uses);
  row->Value(n.unique_lines / uses);
  row->Value(n.stride);
}

// The largest first, so that columns compare like with like.
void StoreRow::WriteBuffers(Row* row) {
  absl::InlinedVector<BufferNumbers, 6> all;
  for (size_t i = 0; i < store_.accesses.size(); ++i) {
    all.push_back(NumbersOf(static_cast<int>(i)));
  }
  absl::InlinedVector<int, 6> order;
  for (size_t i = 0; i < all.size(); ++i) order.push_back(static_cast<int>(i));
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (all[a].lines != all[b].lines) return all[a].lines > all[b].lines;
    if (all[a].bytes != all[b].bytes) return all[a].bytes > all[b].bytes;
    return a < b;
  });
  constexpr int kColumns = sizeof(kOfBuffer) / sizeof(kOfBuffer[0]);
  for (int i = 0; i < kBuffersPerStore; ++i) {
    if (i < static_cast<int>(order.size())) {
      WriteBuffer(all[order[i]], row);
    } else {
      row->Zeros(kColumns);
    }
  }
}

// Operations per byte while the loops of a depth and deeper run, at even steps
// from the innermost loop to all of them.
void StoreRow::WriteIntensity(Row* row) const {
  double ops = 0;
  for (double count : store_.ops) ops += count;
  absl::InlinedVector<double, 16> curve;
  for (int d = depth(); d >= 0; --d) {
    curve.push_back(ops * Product(d) / std::max(BytesInside(d), 1.0));
  }
  for (int i = 0; i < kIntensitySamples; ++i) {
    const double at =
        static_cast<double>(curve.size() - 1) * i / (kIntensitySamples - 1);
    const size_t low = static_cast<size_t>(at);
    const size_t high = std::min(low + 1, curve.size() - 1);
    const double part = at - static_cast<double>(low);
    row->Value(curve[low] * (1 - part) + curve[high] * part);
  }
}

void StoreRow::WriteAllocation(Row* row) const {
  const BufferSummary& buffer = program_.buffers[store_.accesses[0].buffer];
  double elements = 1, times = 1;
  for (int64_t extent : buffer.extents) {
    elements *= static_cast<double>(extent);
  }
  for (int i = buffer.owner_loop; i >= 0; i = program_.loops[i].parent) {
    times *= static_cast<double>(program_.loops[i].extent);
  }
  row->Value(elements * buffer.element_bytes);
  row->Value(elements);
  row->Value(times);
  row->Value(elements * buffer.element_bytes * times);
}

void StoreRow::WriteNest(Row* row) const {
  row->Value(Product(0));
  row->Value(depth());
  row->Value(
      depth() == 0 ? 0 : static_cast<double>(loop(depth() - 1).unroll_steps));
}

}  // namespace

const std::vector<std::string>& StoreFeatureNames() {
  static const auto& names = *new std::vector<std::string>(MakeNames());
  return names;
}

FeatureMatrix StoreFeatures(const ProgramSummary& program, int line_bytes) {
  FeatureMatrix matrix;
  matrix.rows = static_cast<int>(program.stores.size());
  matrix.values.resize(static_cast<size_t>(matrix.rows) * matrix.columns);
  for (int i = 0; i < matrix.rows; ++i) {
    Row row(matrix.values.data() + static_cast<size_t>(i) * matrix.columns);
    StoreRow(program, i, line_bytes).Write(&row);
  }
  return matrix;
}

}  // namespace kiln
