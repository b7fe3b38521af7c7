// SPDX-License-Identifier: Apache-2.0
// The suite's parsers of format, events and CPU list files: any text is either refused as a whole,
// or read like an independent, simple reading of the kernel's ABI text reads it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "property.h"
#include "system/sysfs.h"

namespace pmuconf::fuzz {
namespace {

using Term = std::pair<std::string, std::uint64_t>;

// Removes characters from the front of a text, without allocation.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool Skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string_view Until(std::string_view stops) {
    const std::string_view head = rest_.substr(0, rest_.find_first_of(stops));
    rest_.remove_prefix(head.size());
    return head;
  }
  // At least one digit of `base`, with a value of at most `most`.
  std::optional<std::uint64_t> Number(unsigned base, std::uint64_t most) {
    std::uint64_t value = 0;
    bool any = false;
    for (; !rest_.empty(); rest_.remove_prefix(1), any = true) {
      const unsigned digit = Digit(rest_.front());
      if (digit >= base) break;
      if (value > (most - digit) / base) return std::nullopt;
      value = value * base + digit;
    }
    return any ? std::optional(value) : std::nullopt;
  }

 private:
  static unsigned Digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
  }

  std::string_view rest_;
};

// Calls `mark(first, last)` for each range of a list. False for a malformed list, or if `mark`
// returns false.
template <typename Mark>
bool ReadRanges(Cursor cursor, std::uint64_t most, Mark mark) {
  while (true) {
    const auto first = cursor.Number(10, most);
    const auto last = first && cursor.Skip("-") ? cursor.Number(10, most) : first;
    if (!first || !last || *last < *first || !mark(*first, *last)) return false;
    if (cursor.done()) return true;
    if (!cursor.Skip(",")) return false;
  }
}

std::uint64_t LowBits(std::uint64_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

struct Mask {
  int config = 0;
  std::uint64_t bits = 0;
};

std::optional<Mask> ReadFormat(std::string_view text) {
  constexpr std::array<std::string_view, 5> kWords = {
      "config:", "config1:", "config2:", "config3:", "config4:"};
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    Cursor cursor(text);
    if (!cursor.Skip(kWords.at(i))) continue;
    Mask mask = {static_cast<int>(i)};
    const auto set = [&mask](std::uint64_t first, std::uint64_t last) {
      const std::uint64_t range = LowBits(last - first + 1) << first;
      const bool fresh = (mask.bits & range) == 0;
      mask.bits |= range;
      return fresh;
    };
    return ReadRanges(cursor, 63, set) ? std::optional(mask) : std::nullopt;
  }
  return std::nullopt;
}

// Distributes the low bits of `value` over the bits of `mask`, lowest first.
std::uint64_t Deposit(std::uint64_t value, std::uint64_t mask) {
  std::uint64_t word = 0;
  for (; mask != 0; mask &= mask - 1, value >>= 1)
    if ((value & 1) != 0) word |= mask & -mask;
  return word;
}

std::string FormatText(const FormatField& field) {
  std::string text = "config";
  if (field.config != 0) text += std::to_string(field.config);
  char separator = ':';
  for (const auto& [first, last] : field.bits) {
    text += separator + std::to_string(first);
    if (last != first) text += "-" + std::to_string(last);
    separator = ',';
  }
  return text;
}

void CheckEncode(const FormatField& field, std::uint64_t mask, std::uint64_t value) {
  const std::uint64_t most = LowBits(std::popcount(mask));
  const auto encoded = field.Encode(value);
  PROPERTY(encoded.has_value() == (value <= most),
           "a value is refused if it is wider than its field");
  PROPERTY(!encoded || *encoded == Deposit(value, mask), "a value goes to the bits of its field");
  PROPERTY(field.Encode(value & most) == Deposit(value & most, mask),
           "a value that is narrow enough is taken");
}

std::optional<FormatField> CheckFormat(std::string_view text, std::uint64_t value) {
  auto field = ParseFormat(text);
  const auto mask = ReadFormat(text);
  PROPERTY(field.has_value() == mask.has_value(), "what is a format is read, and nothing else");
  if (!field) return field;
  PROPERTY(field->config == mask->config, "the word is the one that the text names");
  PROPERTY(field->width() == std::popcount(mask->bits), "a field is as wide as it has bits");
  std::uint64_t bits = 0;
  for (const auto& [first, last] : field->bits) {
    PROPERTY(0 <= first && first <= last && last <= 63, "a range lies in a word");
    PROPERTY((bits >> first) == 0, "ranges stand in order and keep apart");
    bits |= LowBits(last - first + 1) << first;
  }
  PROPERTY(bits == mask->bits, "the bits are those that the text names");
  CheckEncode(*field, bits, value);
  const auto again = ParseFormat(FormatText(*field));
  PROPERTY(again && again->config == field->config && again->bits == field->bits,
           "a format that is printed reads the same");
  return field;
}

std::optional<std::uint64_t> ReadValue(std::string_view text) {
  if (text == "?") return 0;
  Cursor cursor(text);
  const bool hex = cursor.Skip("0x") || cursor.Skip("0X");
  const auto value = cursor.Number(hex ? 16 : 10, ~std::uint64_t{0});
  return cursor.done() ? value : std::nullopt;
}

void CheckTerms(std::string_view text) {
  const auto terms = ParseTerms(text);
  Cursor cursor(text);
  std::size_t n = 0;
  bool valid = true;
  do {
    const std::string_view name = cursor.Until("=,");
    std::optional<std::uint64_t> value = 1;
    if (cursor.Skip("=")) value = ReadValue(cursor.Until(","));
    valid = valid && !name.empty() && value;
    if (!terms) continue;
    PROPERTY(
        valid && n < terms->size() && (*terms)[n].first == name && (*terms)[n].second == *value,
        "a term has its name and its value");
    ++n;
  } while (cursor.Skip(","));
  PROPERTY(valid == terms.has_value(), "what is a list of terms is read, and nothing else");
  PROPERTY(!terms || n == terms->size(), "there are as many terms as the text has");
}

void CheckConfigs(const std::vector<Term>& terms, const std::map<std::string, FormatField>& formats,
                  const std::map<std::string, Mask>& masks) {
  std::array<std::uint64_t, 5> words = {};
  bool valid = true;
  for (const auto& [name, value] : terms) {
    const auto declared = masks.find(name);
    // The names of the words are terms, too.
    const auto mask = declared == masks.end() ? ReadFormat(name + ":0-63") : declared->second;
    valid = valid && mask && value <= LowBits(std::popcount(mask->bits));
    if (!valid) break;
    words.at(mask->config) |= Deposit(value, mask->bits);
  }
  const auto configs = EncodeTerms(terms, formats);
  PROPERTY(configs.has_value() == valid, "terms are refused if one has no format or does not fit");
  PROPERTY(!configs || (configs->config == words[0] && configs->config1 == words[1] &&
                        configs->config2 == words[2] && configs->config3 == words[3] &&
                        configs->config4 == words[4]),
           "terms go to their fields, and nowhere else");
}

void CheckCpus(std::string_view text) {
  const auto cpus = ParseCpuList(text);
  std::map<std::uint64_t, std::uint64_t> ranges;
  const bool valid = text.empty() || ReadRanges(Cursor(text), 65535, [&](auto first, auto last) {
                       const auto after = ranges.upper_bound(last);
                       if (after != ranges.begin() && std::prev(after)->second >= first)
                         return false;
                       ranges.emplace_hint(after, first, last);
                       return true;
                     });
  PROPERTY(valid == cpus.has_value(), "what is a CPU list is read, and nothing else");
  if (!cpus) return;
  auto cpu = cpus->begin();
  for (const auto& [first, last] : ranges) {
    for (std::uint64_t n = first; n <= last; ++n, ++cpu)
      PROPERTY(cpu != cpus->end() && static_cast<std::uint64_t>(*cpu) == n,
               "the CPUs of the text stand there in order, each once");
  }
  PROPERTY(cpu == cpus->end(), "no other CPU stands there");
}

}  // namespace
}  // namespace pmuconf::fuzz

// A line is a file: "name=config:0-7" is a named format; any other text may be any file.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace pmuconf::fuzz;
  using pmuconf::FormatField;
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::uint64_t value = size * 0x9e37'79b9'7f4a'7c15ULL >> size % 64;
  std::map<std::string, FormatField> formats;
  std::map<std::string, Mask> masks;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) {
      const auto field = CheckFormat(line.substr(equals + 1), value);
      if (field) {
        const std::string name(line.substr(0, equals));
        formats.insert_or_assign(name, *field);
        masks.insert_or_assign(name, *ReadFormat(line.substr(equals + 1)));
        continue;
      }
    }
    CheckFormat(line, value);
    CheckCpus(line);
    CheckTerms(line);
    const auto terms = pmuconf::ParseTerms(line);
    if (terms) CheckConfigs(*terms, formats, masks);
  }
  return 0;
}
