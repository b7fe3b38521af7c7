// SPDX-License-Identifier: Apache-2.0
#include "tcg/options.h"

#include <array>
#include <charconv>
#include <string_view>

#include "uapi/refpmu_work.h"

namespace pmuconf::work {
namespace {

constexpr std::array<std::string_view, REFPMU_WORK_EVENTS> kNames = {
    "instructions", "branches", "calls",           "returns",          "loads",
    "stores",       "taken",    "l1d-load-misses", "l1d-store-misses", "l1i-misses",
};
constexpr unsigned kMaxShift = 10;  // QEMU's limit
constexpr unsigned kMaxOvercount = 100;

// Returns the message of a failure, or "".
std::string ReadEvents(std::string_view list, std::uint32_t* events) {
  while (true) {
    const std::string_view name = list.substr(0, list.find('+'));
    unsigned event = 0;
    while (event < kNames.size() && kNames[event] != name) ++event;
    if (event == kNames.size()) {
      std::string known;
      for (const std::string_view each : kNames) known.append(" ").append(each);
      return "events: unknown event '" + std::string(name) + "'; known:" + known;
    }
    *events |= 1U << event;
    if (name.size() == list.size()) return "";
    list.remove_prefix(name.size() + 1);
  }
}

// Stores a value from 0 to `most`.
template <typename Value>
std::string ReadNumber(std::string_view key, std::string_view text, unsigned most, Value* to) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) {
    return std::string(key) + "='" + std::string(text) + "': must be an integer from 0 to " +
           std::to_string(most);
  }
  *to = value;
  return "";
}

std::string ReadWord(std::string_view word, Options* options) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = equals == word.npos ? "" : word.substr(equals + 1);
  if (key == "page") {
    options->page = value;
    return "";
  }
  if (key == "events") return ReadEvents(value, &options->events);
  if (key == "icount") return ReadNumber(key, value, kMaxShift, &options->icount);
  if (key == "overcount") return ReadNumber(key, value, kMaxOvercount, &options->overcount);
  if (key == "cpus") {
    options->each = value == "each";
    if (options->each || value == "shared") return "";
    return "cpus='" + std::string(value) + "': must be shared or each";
  }
  return "unknown argument '" + std::string(key) + "'; known: page events icount cpus overcount";
}

}  // namespace

std::variant<Options, std::string> ParseOptions(std::span<const char* const> words) {
  Options options;
  for (const char* const word : words) {
    std::string failure = ReadWord(word, &options);
    if (!failure.empty()) return failure;
  }
  if (options.page.empty()) return std::string("page=FILE is missing");
  return options;
}

}  // namespace pmuconf::work
