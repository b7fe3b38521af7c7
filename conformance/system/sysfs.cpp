// SPDX-License-Identifier: Apache-2.0
// Parsers for the sysfs files of a PMU.
#include "system/sysfs.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "system/answers.h"

namespace pmuconf {
namespace {

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t n = text.find(at);
    parts.push_back(text.substr(0, n));
    if (n == std::string_view::npos) return parts;
    text.remove_prefix(n + 1);
  }
}

template <typename T>
std::optional<T> Number(std::string_view text, int base = 10) {
  T value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> HexOrDecimal(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  return Number<std::uint64_t>(hex ? text.substr(2) : text, hex ? 16 : 10);
}

// Parses "3" or "0-3".
std::optional<std::pair<int, int>> ParseRange(std::string_view text) {
  const auto parts = Split(text, '-');
  const auto first = Number<int>(parts.front());
  const auto last = Number<int>(parts.back());
  if (parts.size() > 2 || !first || !last || *first < 0 || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

// Parses "0-7,32-35", with numbers up to `last`, and sorts the ranges. Returns nullopt if ranges
// overlap.
std::optional<std::vector<std::pair<int, int>>> ParseRanges(std::string_view text, int last) {
  std::vector<std::pair<int, int>> ranges;
  for (const std::string_view part : Split(text, ',')) {
    const auto range = ParseRange(part);
    if (!range || range->second > last) return std::nullopt;
    ranges.push_back(*range);
  }
  std::sort(ranges.begin(), ranges.end());
  const auto reaches = [](const auto& a, const auto& b) { return b.first <= a.second; };
  if (std::adjacent_find(ranges.begin(), ranges.end(), reaches) != ranges.end())
    return std::nullopt;
  return ranges;
}

// Returns 0 for "config", 1 for "config1", and so on.
std::optional<int> WordOf(std::string_view name) {
  if (name == "config") return 0;
  const bool numbered = name.size() == 7 && name.starts_with("config");
  if (!numbered || name.back() < '1' || name.back() > '4') return std::nullopt;
  return name.back() - '0';
}

}  // namespace

int FormatField::width() const {
  int width = 0;
  for (const auto& [first, last] : bits) width += last - first + 1;
  return width;
}

std::optional<std::uint64_t> FormatField::Encode(std::uint64_t value) const {
  std::uint64_t encoded = 0;
  for (const auto& [first, last] : bits) {
    for (int bit = first; bit <= last; ++bit) {
      encoded |= (value & 1) << bit;
      value >>= 1;
    }
  }
  return value == 0 ? std::optional(encoded) : std::nullopt;
}

std::optional<FormatField> ParseFormat(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto word = WordOf(text.substr(0, colon));
  if (!word) return std::nullopt;
  FormatField field = {.config = *word};
  // perf treats the ranges as a set: low bits of a value go to the low bits of the field.
  auto bits = ParseRanges(text.substr(colon + 1), 63);
  if (!bits) return std::nullopt;
  field.bits = std::move(*bits);
  return field;
}

std::optional<Terms> ParseTerms(std::string_view text) {
  Terms terms;
  for (const std::string_view part : Split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view text_of_value =
        equals == std::string_view::npos ? "1" : part.substr(equals + 1);
    const auto value = HexOrDecimal(text_of_value == "?" ? "0" : text_of_value);
    if (name.empty() || !value) return std::nullopt;
    terms.emplace_back(name, *value);
  }
  return terms;
}

std::optional<std::vector<int>> ParseCpuList(std::string_view text) {
  std::vector<int> cpus;
  if (text.empty()) return cpus;
  const auto ranges = ParseRanges(text, 65535);
  if (!ranges) return std::nullopt;
  for (const auto& [first, last] : *ranges) {
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

bool IsWordOfAttr(std::string_view term) { return WordOf(term).has_value(); }

std::optional<Configs> EncodeTerms(const Terms& terms,
                                   const std::map<std::string, FormatField>& formats) {
  Configs configs;
  for (const auto& [name, value] : terms) {
    const auto it = formats.find(name);
    const auto word = WordOf(name);
    if (it == formats.end() && !word) return std::nullopt;
    const FormatField field =
        it == formats.end() ? FormatField{.config = *word, .bits = {{0, 63}}} : it->second;
    const auto encoded = field.Encode(value);
    if (!encoded) return std::nullopt;
    std::uint64_t* const words[] = {&configs.config, &configs.config1, &configs.config2,
                                    &configs.config3, &configs.config4};
    *words[field.config] |= *encoded;
  }
  return configs;
}

std::map<std::string, FormatField> ReadFormats(const std::string& folder) {
  std::map<std::string, FormatField> formats;
  for (const std::string& name : ListFolder(folder + "/format")) {
    const auto field = ParseFormat(ReadFile(folder + "/format/" + name).value_or(""));
    if (field) formats[name] = *field;
  }
  return formats;
}

std::optional<Configs> ReadTerms(const std::string& folder, std::string_view text) {
  const auto terms = ParseTerms(text);
  return terms ? EncodeTerms(*terms, ReadFormats(folder)) : std::nullopt;
}

FileAnswers& file_answers() {
  static constinit FileAnswers the_answers;
  return the_answers;
}

namespace {

std::optional<std::string> TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) return std::nullopt;
  std::string text = content.str();
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

}  // namespace

std::optional<std::string> ReadFile(const std::string& path) {
  std::optional<std::string> text = TextOf(path);
  if (file_answers().file != nullptr) file_answers().file(path, &text);
  return text;
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    names.push_back(entry.path().filename());
  }
  if (file_answers().folder != nullptr) file_answers().folder(path, &names);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pmuconf
