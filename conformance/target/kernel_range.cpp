// SPDX-License-Identifier: Apache-2.0
// Compares kernel ranges by (major, minor).
#include <sys/utsname.h>

#include <charconv>
#include <utility>

#include "target/expression.h"
#include "text/one_line.h"

namespace pmuconf {
namespace {

// Removes "6.12" from the front of `text` and stores it in `version`.
bool ParseVersion(std::string_view* text, std::pair<int, int>* version) {
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

bool KernelMatches(std::string_view text, std::string_view release) {
  const auto fail = [&]() -> bool {
    throw ConfigError(OneLine("kernels '" + std::string(text) + "' or release '" +
                              std::string(release) + "': not understood"));
  };
  std::pair<int, int> running;
  if (!ParseVersion(&release, &running)) return fail();
  std::string_view rest = text;
  bool good = true;
  while (true) {
    const std::string_view part = rest;
    const std::size_t n = part.find_first_not_of("<>=");
    if (n == std::string_view::npos || n == 0) return fail();
    const std::string_view op = part.substr(0, n);
    rest.remove_prefix(n);
    std::pair<int, int> wanted;
    if (!ParseVersion(&rest, &wanted)) return fail();
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
