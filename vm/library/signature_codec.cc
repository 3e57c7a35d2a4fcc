// The binary form is a magic, a version and then fields in order; numbers are
// LEB128 varints, strings and lists carry their length in front. The signature
// of a kernel "f" without parameters is
//
//   "KSIG"  03  01 "f"  00  00  00  00
//           version, name, buffers, scalars, parameters, noalias
//
// Any bytes may be read. After the first failure the reader gives zeros, so
// that fields need no checks of their own, and only the end asks whether it
// failed. A list cannot be longer than the bytes behind its length, so a
// damaged length allocates nothing large. A new field needs a new version:
// others are refused.
#include <limits>
#include <optional>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/signature.h"

namespace kiln {
namespace {

constexpr std::string_view kMagic = "KSIG";
constexpr uint64_t kVersion = 3;

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void Number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      out_.push_back(static_cast<char>(value | 0x80));
    }
    out_.push_back(static_cast<char>(value));
  }
  void Text(std::string_view text) {
    Number(text.size());
    out_.append(text);
  }
  void Type(DType dtype) {
    Number(static_cast<uint64_t>(dtype.code()));
    Number(dtype.bits());
  }

 private:
  std::string& out_;
};

// Takes fields off the front. After the first failure every read gives zero
// and `failed` stays set.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t Number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return Fail();
      const uint64_t byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) return Fail();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Fail();
  }
  uint64_t NumberUpTo(uint64_t limit) {
    const uint64_t value = Number();
    return value <= limit ? value : Fail();
  }
  // The length of a list whose items take a byte each at least.
  uint64_t Count() {
    const uint64_t count = Number();  // Before the remaining bytes.
    return count <= rest_.size() ? count : Fail();
  }
  std::string Text() {
    const uint64_t size = Count();
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  DType Type() {
    const uint64_t code = NumberUpTo(static_cast<uint64_t>(TypeCode::kVoid));
    const int bits = static_cast<int>(NumberUpTo(64));
    const DType dtype(static_cast<TypeCode>(code), bits);
    // Only types that have a name exist.
    if (DType::FromString(dtype.ToString()) != dtype) Fail();
    return dtype;
  }
  bool failed() const { return failed_; }
  bool done() const { return rest_.empty(); }
  uint64_t Fail() {
    failed_ = true;
    rest_ = {};
    return 0;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

void WriteDim(const KernelDim& dim, Writer& writer) {
  writer.Number(dim.steps().size());
  for (const KernelDim::Step& step : dim.steps()) {
    writer.Number(static_cast<uint64_t>(step.op));
    if (KernelDim::IsLeaf(step.op)) writer.Number(step.value);
  }
}

void WriteDims(const std::vector<KernelDim>& dims, Writer& writer) {
  writer.Number(dims.size());
  for (const KernelDim& dim : dims) WriteDim(dim, writer);
}

void WriteBuffer(const KernelBuffer& buffer, Writer& writer) {
  writer.Text(buffer.name);
  writer.Type(buffer.dtype);
  writer.Number(buffer.alignment);
  writer.Number(buffer.written ? 1 : 0);
  writer.Number(buffer.in_place_of.size());
  for (const int other : buffer.in_place_of) writer.Number(other);
  WriteDims(buffer.shape, writer);
  WriteDims(buffer.strides, writer);
  WriteDim(buffer.offset, writer);
}

KernelDim ReadDim(Reader& reader) {
  std::vector<KernelDim::Step> steps;
  for (uint64_t n = reader.Count(); n > 0 && !reader.failed(); --n) {
    KernelDim::Step step;
    step.op = static_cast<KernelDim::Op>(
        reader.NumberUpTo(static_cast<uint64_t>(KernelDim::Op::kMax)));
    if (step.op == KernelDim::Op::kConstant) {
      step.value = static_cast<int64_t>(reader.Number());
    } else if (step.op == KernelDim::Op::kScalar) {
      step.value = static_cast<int64_t>(
          reader.NumberUpTo(std::numeric_limits<int32_t>::max()));
    }
    steps.push_back(step);
  }
  const std::optional<KernelDim> dim = KernelDim::FromSteps(std::move(steps));
  if (!dim) reader.Fail();
  return dim.value_or(KernelDim());
}

std::vector<KernelDim> ReadDims(Reader& reader) {
  std::vector<KernelDim> dims;
  for (uint64_t n = reader.Count(); n > 0 && !reader.failed(); --n) {
    dims.push_back(ReadDim(reader));
  }
  return dims;
}

KernelBuffer ReadBuffer(Reader& reader) {
  KernelBuffer buffer;
  buffer.name = reader.Text();
  buffer.dtype = reader.Type();
  buffer.alignment =
      static_cast<int64_t>(reader.NumberUpTo(KILN_KERNEL_ALIGNMENT));
  buffer.written = reader.NumberUpTo(1) == 1;
  for (uint64_t n = reader.Count(); n > 0 && !reader.failed(); --n) {
    buffer.in_place_of.push_back(static_cast<int>(
        reader.NumberUpTo(std::numeric_limits<int32_t>::max())));
  }
  buffer.shape = ReadDims(reader);
  buffer.strides = ReadDims(reader);
  buffer.offset = ReadDim(reader);
  return buffer;
}

KernelSignature ReadFields(Reader& reader) {
  KernelSignature signature;
  signature.name = reader.Text();
  for (uint64_t n = reader.Count(); n > 0 && !reader.failed(); --n) {
    signature.buffers.push_back(ReadBuffer(reader));
  }
  for (uint64_t n = reader.Count(); n > 0 && !reader.failed(); --n) {
    KernelScalar scalar;
    scalar.name = reader.Text();
    scalar.dtype = reader.Type();
    signature.scalars.push_back(std::move(scalar));
  }
  for (uint64_t n = reader.Count(); n > 0 && !reader.failed(); --n) {
    const uint64_t kind = reader.NumberUpTo(1);
    const uint64_t index =
        reader.NumberUpTo(std::numeric_limits<int32_t>::max());
    signature.params.push_back(
        {static_cast<KernelParam::Kind>(kind), static_cast<int>(index)});
  }
  signature.noalias = reader.NumberUpTo(1) == 1;
  return signature;
}

}  // namespace

std::string Serialize(const KernelSignature& signature) {
  std::string bytes(kMagic);
  Writer writer(bytes);
  writer.Number(kVersion);
  writer.Text(signature.name);
  writer.Number(signature.buffers.size());
  for (const KernelBuffer& buffer : signature.buffers) {
    WriteBuffer(buffer, writer);
  }
  writer.Number(signature.scalars.size());
  for (const KernelScalar& scalar : signature.scalars) {
    writer.Text(scalar.name);
    writer.Type(scalar.dtype);
  }
  writer.Number(signature.params.size());
  for (const KernelParam& param : signature.params) {
    writer.Number(static_cast<uint64_t>(param.kind));
    writer.Number(param.index);
  }
  writer.Number(signature.noalias ? 1 : 0);
  return bytes;
}

absl::StatusOr<KernelSignature> ParseKernelSignature(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return Invalid("not a kernel signature: it does not begin with KSIG");
  }
  Reader reader(bytes.substr(kMagic.size()));
  if (const uint64_t version = reader.Number(); version != kVersion) {
    return Invalid("kernel signature of version " + std::to_string(version) +
                   "; this build reads version " + std::to_string(kVersion));
  }
  KernelSignature signature = ReadFields(reader);
  if (reader.failed()) {
    return Invalid("kernel signature is damaged or cut short");
  }
  if (!reader.done()) {
    return Invalid("kernel signature is followed by other bytes");
  }
  KILN_RETURN_IF_ERROR(CheckSignature(signature));
  return signature;
}

}  // namespace kiln
