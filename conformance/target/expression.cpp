// SPDX-License-Identifier: Apache-2.0
// Evaluates `applies` by recursive descent.
#include "target/expression.h"

#include <cctype>
#include <utility>

namespace pmuconf {
namespace {

class Applies {
 public:
  Applies(std::string_view text, const std::function<bool(Cap)>& has)
      : text_(text), rest_(text), has_(has) {}

  bool Evaluate() {
    const bool value = Or();
    if (!Peek().empty()) Fail();
    return value;
  }

 private:
  // Returns the next word, "(" or ")"; empty at the end.
  std::string_view Peek() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.empty()) return {};
    std::size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_'))
      ++n;
    return rest_.substr(0, n == 0 ? 1 : n);
  }
  bool Consume(std::string_view word) {
    if (Peek() != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  [[noreturn]] void Fail() const {
    throw ConfigError("expression '" + std::string(text_) + "': not understood at '" +
                      std::string(rest_) + "'");
  }

  bool Or() {
    bool value = And();
    while (Consume("or")) value = And() || value;
    return value;
  }
  bool And() {
    bool value = Not();
    while (Consume("and")) value = Not() && value;
    return value;
  }
  bool Not() {
    if (Consume("not")) return !Not();
    return Atom();
  }
  bool Atom() {
    if (Consume("(")) {
      const bool value = Or();
      if (!Consume(")")) Fail();
      return value;
    }
    if (Consume("true")) return true;
    if (Consume("false")) return false;
    const std::string_view word = Peek();
    const auto cap = CapFromString(word);
    if (!cap) Fail();
    Consume(word);
    return has_(*cap);
  }

  std::string_view text_;
  std::string_view rest_;
  const std::function<bool(Cap)>& has_;
};

}  // namespace

bool EvaluateApplies(std::string_view text, const std::function<bool(Cap)>& has) {
  return Applies(text, has).Evaluate();
}

}  // namespace pmuconf
