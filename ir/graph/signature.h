// What the arguments and the attributes of each op are called.
#ifndef KILN_IR_GRAPH_SIGNATURE_H_
#define KILN_IR_GRAPH_SIGNATURE_H_

#include <string>
#include <string_view>
#include <vector>

namespace kiln::graph {

struct AttributeSignature {
  std::string name;
  std::string default_text;  // as a script spells it; "" where there is none
};

// A call of nn.softmax: R.nn.softmax(data, axis=-1).
struct OpSignature {
  std::string name;
  std::vector<std::string> args;  // values; a last name "*": any number more
  std::vector<AttributeSignature> attrs;

  bool TakesMore() const { return !args.empty() && args.back() == "*"; }
  const AttributeSignature* FindAttribute(std::string_view attr) const;
};

// The signature of the op, or nullptr where it is none that Kiln knows.
const OpSignature* FindSignature(std::string_view op);

// All of them, by name.
const std::vector<OpSignature>& Signatures();

}  // namespace kiln::graph

#endif  // KILN_IR_GRAPH_SIGNATURE_H_
