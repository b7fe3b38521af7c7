// SPDX-License-Identifier: Apache-2.0
// Evaluates `applies` by recursive descent, and kernel ranges by comparing (major, minor).
#include "lib/expression.h"

#include <sys/utsname.h>

#include <cctype>
#include <charconv>
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
  // The next word, "(" or ")"; empty at the end.
  std::string_view Peek() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
    if (rest_.empty()) return {};
    std::size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_'))
      ++n;
    return rest_.substr(0, n == 0 ? 1 : n);
  }
  bool Take(std::string_view word) {
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
    while (Take("or")) value = And() || value;
    return value;
  }
  bool And() {
    bool value = Not();
    while (Take("and")) value = Not() && value;
    return value;
  }
  bool Not() {
    if (Take("not")) return !Not();
    return Atom();
  }
  bool Atom() {
    if (Take("(")) {
      const bool value = Or();
      if (!Take(")")) Fail();
      return value;
    }
    if (Take("true")) return true;
    if (Take("false")) return false;
    const std::string_view word = Peek();
    const auto cap = CapFromString(word);
    if (!cap) Fail();
    Take(word);
    return has_(*cap);
  }

  std::string_view text_;
  std::string_view rest_;
  const std::function<bool(Cap)>& has_;
};

// Takes "6.12" off the front.
bool TakeVersion(std::string_view* text, std::pair<int, int>* version) {
  const auto number = [&](int* value) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
    if (error != std::errc()) return false;
    text->remove_prefix(static_cast<std::size_t>(end - text->data()));
    return true;
  };
  if (!number(&version->first) || text->empty() || text->front() != '.') return false;
  text->remove_prefix(1);
  return number(&version->second);
}

}  // namespace

bool EvaluateApplies(std::string_view text, const std::function<bool(Cap)>& has) {
  return Applies(text, has).Evaluate();
}

bool KernelMatches(std::string_view text, std::string_view release) {
  const auto fail = [&]() -> bool {
    throw ConfigError("kernels '" + std::string(text) + "' or release '" + std::string(release) +
                      "': not understood");
  };
  std::pair<int, int> running;
  if (!TakeVersion(&release, &running)) return fail();
  std::string_view rest = text;
  bool good = true;
  while (true) {
    const std::string_view part = rest;
    const std::size_t n = part.find_first_not_of("<>=");
    if (n == std::string_view::npos || n == 0) return fail();
    const std::string_view op = part.substr(0, n);
    rest.remove_prefix(n);
    std::pair<int, int> wanted;
    if (!TakeVersion(&rest, &wanted)) return fail();
    if (op == ">=") {
      good = good && running >= wanted;
    } else if (op == ">") {
      good = good && running > wanted;
    } else if (op == "<=") {
      good = good && running <= wanted;
    } else if (op == "<") {
      good = good && running < wanted;
    } else if (op == "==") {
      good = good && running == wanted;
    } else {
      return fail();
    }
    if (rest.empty()) return good;
    if (rest.front() != ',') return fail();
    rest.remove_prefix(1);
  }
}

std::string KernelRelease() {
  utsname name = {};
  uname(&name);
  return name.release;
}

}  // namespace pmuconf
