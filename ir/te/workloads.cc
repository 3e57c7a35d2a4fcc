// A table: each row has a name, the names of the dimensions, four shapes of
// which the first is the default, a bit for each dimension that may be 0 (the
// padding), and the function of ops.h that makes the formulas. A workload is
// added as a row; one without constant weights is also listed in HasWeights. A
// specification is read from its end:
//
//   gmm:512,512,64:layout_free:strict    errors, layout, then N, M, K and gmm
//
// Dimensions are below 2^31, so that no extent overflows; that a tensor is not
// empty and has at most 2^40 elements is checked on the finished function.
#include "kiln/ir/te/workloads.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/te/ops.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/te/workload_table.h"
#include "kiln/ir/tensor/numerics.h"

namespace kiln {
namespace {

using te::Dims;

using Workload = WorkloadRow;

Dims With(Dims dims, std::initializer_list<int64_t> more) {
  dims.insert(dims.end(), more);
  return dims;
}

std::vector<te::Tensor> MakeGmm(const Dims& d) {
  return te::Gmm(d.size() == 4 ? d : Dims{1, d[0], d[1], d[2]});
}

std::vector<Workload> Convolutions() {
  return {{{"c1d",
            "L,ci,co,k,s,p",
            {{256, 64, 128, 3, 2, 1},
             {128, 128, 256, 1, 2, 0},
             {64, 256, 256, 5, 1, 2},
             {32, 512, 512, 3, 1, 1}}},
           Bit(5),
           [](const Dims& d) { return te::Conv(With(d, {1, 1}), 1); }},
          {{"c2d",
            "H,W,ci,co,k,s,p",
            {{224, 224, 3, 64, 7, 2, 3},
             {56, 56, 64, 64, 1, 1, 0},
             {14, 14, 256, 256, 3, 1, 1},
             {7, 7, 512, 512, 3, 1, 1}}},
           Bit(6),
           [](const Dims& d) { return te::Conv(With(d, {1, 1}), 2); }},
          {{"c3d",
            "D,H,W,ci,co,k,s,p",
            {{16, 224, 224, 3, 64, 7, 2, 3},
             {16, 56, 56, 64, 64, 1, 1, 0},
             {16, 14, 14, 256, 256, 3, 1, 1},
             {16, 7, 7, 512, 512, 3, 1, 1}}},
           Bit(7),
           [](const Dims& d) { return te::Conv(With(d, {1, 1}), 3); }},
          {{"dep",
            "H,W,c,k,s,p",
            {{112, 112, 32, 3, 1, 1},
             {112, 112, 64, 3, 2, 1},
             {14, 14, 512, 3, 2, 1},
             {7, 7, 1024, 3, 1, 1}}},
           Bit(5),
           te::Dep}};
}

std::vector<Workload> OtherConvolutions() {
  return {{{"grp",
            "H,W,ci,co,k,s,p,groups",
            {{56, 56, 64, 128, 3, 2, 1, 4},
             {56, 56, 64, 64, 1, 1, 0, 4},
             {14, 14, 256, 256, 3, 1, 1, 4},
             {7, 7, 512, 512, 3, 1, 1, 4}}},
           Bit(6),
           [](const Dims& d) { return te::Conv(With(d, {1}), 2); }},
          {{"dil",
            "H,W,ci,co,k,s,p,dilation",
            {{224, 224, 3, 64, 7, 2, 3, 2},
             {56, 56, 64, 64, 1, 1, 0, 2},
             {14, 14, 256, 256, 3, 1, 1, 2},
             {7, 7, 512, 512, 3, 1, 1, 2}}},
           Bit(6),
           [](const Dims& d) {
             return te::Conv(
                 {d[0], d[1], d[2], d[3], d[4], d[5], d[6], 1, d[7]}, 2);
           }},
          {{"t2d",
            "H,W,ci,co,k,s,p",
            {{4, 4, 512, 256, 4, 2, 1},
             {8, 8, 256, 128, 4, 2, 1},
             {16, 16, 128, 64, 4, 2, 1},
             {32, 32, 64, 3, 4, 2, 1}}},
           Bit(6),
           te::T2d},
          {{"cap",
            "H,W,ci,co,k,s,p",
            {{16, 16, 32, 32, 3, 2, 1},
             {8, 8, 32, 32, 3, 1, 1},
             {16, 16, 8, 16, 3, 2, 1},
             {8, 8, 16, 16, 3, 1, 1}}},
           Bit(6),
           te::Cap}};
}

std::vector<Workload> MakeTable() {
  std::vector<Workload> table = {
      {{"gmm",
        "N,M,K",
        {{128, 128, 128}, {512, 32, 512}, {512, 512, 512}, {1024, 1024, 1024}}},
       0,
       MakeGmm}};
  const auto append = [&](const std::vector<Workload>& more) {
    table.insert(table.end(), more.begin(), more.end());
  };
  append(Convolutions());
  append(OtherConvolutions());
  append({{{"nrm", "N,M", {{256, 256}, {512, 512}, {1024, 1024}, {4096, 1024}}},
           0,
           te::Nrm},
          {{"sfm", "N,M", {{256, 256}, {512, 512}, {1024, 1024}, {2048, 2048}}},
           0,
           te::Sfm},
          {{"cbr",
            "H,W,ci,co,k,s,p",
            {{224, 224, 3, 64, 7, 2, 3},
             {56, 56, 64, 128, 3, 2, 1},
             {28, 28, 128, 256, 1, 2, 0},
             {7, 7, 512, 512, 3, 1, 1}}},
           Bit(6),
           te::Cbr},
          {{"tbg",
            "seq,heads,dim",
            {{128, 12, 64}, {128, 16, 64}, {64, 12, 128}, {128, 12, 128}}},
           0,
           te::Tbg}});
  return table;
}

const std::vector<Workload>& Table() {
  static const auto* const table = new std::vector<Workload>(MakeTable());
  return *table;
}

const std::vector<Workload>& LayerTable() {
  static const auto* const table = new std::vector<Workload>(LayerRows());
  return *table;
}

const std::vector<WorkloadInfo>* InfosOf(const std::vector<Workload>& table) {
  auto* infos = new std::vector<WorkloadInfo>;
  for (const Workload& workload : table) infos->push_back(workload.info);
  return infos;
}

absl::Status Refuse(std::string_view spec, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("workload \"", std::string(spec), "\": ", why));
}

absl::StatusOr<const Workload*> FindWorkload(std::string_view spec,
                                             const std::string& name) {
  std::vector<std::string> known;
  for (const auto* table : {&Table(), &LayerTable()}) {
    for (const Workload& workload : *table) {
      if (workload.info.name == name) return &workload;
      known.push_back(workload.info.name);
    }
  }
  return Refuse(spec, absl::StrCat("unknown name \"", name, "\"; known are ",
                                   absl::StrJoin(known, ", ")));
}

// Extents stay far enough from 2^63 that no formula overflows, and so do the
// elements of any tensor.
constexpr int64_t kMaxDim = int64_t{1} << 31;
constexpr int64_t kMaxElements = int64_t{1} << 40;

absl::StatusOr<int64_t> ReadDim(std::string_view spec, const std::string& text,
                                const std::string& name, bool may_be_zero) {
  int64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument ||
      (error == std::errc() && end != text.data() + text.size())) {
    return Refuse(spec, absl::StrCat(name, " is \"", text,
                                     "\", which is no whole number"));
  }
  if (error != std::errc() || value >= kMaxDim) {
    return Refuse(spec,
                  absl::StrCat(name, " = ", text,
                               " is too large; it must be below ", kMaxDim));
  }
  if (value < 0 || (value == 0 && !may_be_zero)) {
    return Refuse(spec, absl::StrCat(name, " = ", value, " must be ",
                                     may_be_zero ? "at least 0" : "positive"));
  }
  return value;
}

absl::StatusOr<Dims> ReadDims(std::string_view spec, const Workload& workload,
                              const std::string& text) {
  std::vector<std::string> names =
      absl::StrSplit(workload.info.dimensions, ',');
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  const bool is_batched_gmm = workload.info.name == "gmm" && parts.size() == 4;
  if (is_batched_gmm) names.insert(names.begin(), "B");
  if (parts.size() != names.size()) {
    return Refuse(
        spec, absl::StrCat("has ", parts.size(), " dimensions, not ",
                           names.size(), ": write ", workload.info.name, ":",
                           workload.info.dimensions));
  }
  Dims dims;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool may_be_zero = workload.may_be_zero & Bit(static_cast<int>(i));
    KILN_ASSIGN_OR_RETURN(int64_t dim,
                          ReadDim(spec, parts[i], names[i], may_be_zero));
    dims.push_back(dim);
  }
  return dims;
}

// What the formulas need beyond positive dimensions.
absl::Status CheckDims(std::string_view spec, const std::string& name,
                       const Dims& d) {
  if (name == "grp" && (d[2] % d[7] != 0 || d[3] % d[7] != 0)) {
    return Refuse(spec, absl::StrCat("ci = ", d[2], " and co = ", d[3],
                                     " must be multiples of groups = ", d[7]));
  }
  if (name == "t2d" && d[6] >= d[4]) {
    return Refuse(spec,
                  absl::StrCat("the padding p = ", d[6],
                               " must be less than the kernel k = ", d[4]));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(std::string_view spec, const Buffer& buffer) {
  int64_t size = 1;
  for (const Expr& e : buffer->shape) {
    const int64_t* extent = AsInt(e);
    if (!extent || *extent < 1) {
      return Refuse(spec,
                    "the kernel is larger than the padded input, so "
                    "the output is empty");
    }
    if (__builtin_mul_overflow(size, *extent, &size) || size > kMaxElements) {
      return Refuse(spec, absl::StrCat("tensor ", buffer->name,
                                       " would have more than 2^40 elements"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<WorkloadInfo>& Workloads() {
  static const auto* const infos = InfosOf(Table());
  return *infos;
}

const std::vector<WorkloadInfo>& Layers() {
  static const auto* const infos = InfosOf(LayerTable());
  return *infos;
}

bool HasWeights(std::string_view name) {
  static constexpr std::string_view kWithout[] = {"nrm", "sfm", "tbg", "max",
                                                  "avg", "lnm", "rms", "gel",
                                                  "add", "scl", "hsw", "swi"};
  return std::find(std::begin(kWithout), std::end(kWithout), name) ==
         std::end(kWithout);
}

namespace {

// Takes the suffix off the specification, if it ends so.
bool TakeSuffix(std::string_view suffix, std::string_view* spec) {
  if (!spec->ends_with(suffix)) return false;
  spec->remove_suffix(suffix.size());
  return true;
}

absl::StatusOr<bool> TakeLayoutFree(std::string_view* spec) {
  std::string_view rest = *spec;
  if (!TakeSuffix(kLayoutFreeSuffix, &rest)) return false;
  const std::string_view name = rest.substr(0, rest.find(':'));
  if (!HasWeights(name)) {
    return Refuse(*spec, absl::StrCat(std::string(name),
                                      " has no constant weights, whose layout "
                                      "would be free"));
  }
  *spec = rest;
  return true;
}

absl::StatusOr<Function> MakeMain(const Workload& workload, const Dims& dims,
                                  bool layout_free) {
  const std::vector<te::Tensor> params = workload.make(dims);
  std::vector<te::Tensor> constants;
  if (layout_free) constants.push_back(params[1]);
  return te::CreatePrimFunc(params, "main", constants);
}

}  // namespace

absl::StatusOr<Module> MakeWorkload(std::string_view spec) {
  const bool is_normwise = TakeSuffix(kNormwiseSuffix, &spec);
  const bool is_strict = !is_normwise && TakeSuffix(kStrictSuffix, &spec);
  KILN_ASSIGN_OR_RETURN(const bool layout_free, TakeLayoutFree(&spec));
  const size_t colon = spec.find(':');
  const std::string name(spec.substr(0, colon));
  KILN_ASSIGN_OR_RETURN(const Workload* workload, FindWorkload(spec, name));
  Dims dims = workload->info.shapes[0];
  if (colon != std::string_view::npos) {
    KILN_ASSIGN_OR_RETURN(
        dims, ReadDims(spec, *workload, std::string(spec.substr(colon + 1))));
  }
  KILN_RETURN_IF_ERROR(CheckDims(spec, name, dims));
  KILN_ASSIGN_OR_RETURN(Function main, MakeMain(*workload, dims, layout_free));
  if (is_normwise) AllowNormwise(&main);
  if (is_strict) MakeStrict(&main);
  for (const Param& param : main.params) {
    KILN_RETURN_IF_ERROR(CheckSize(spec, param.buffer));
  }
  for (const Buffer& buffer : main.root().alloc_buffers) {
    KILN_RETURN_IF_ERROR(CheckSize(spec, buffer));
  }
  Module module;
  module.functions.push_back(std::move(main));
  return module;
}

}  // namespace kiln
