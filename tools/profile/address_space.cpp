// SPDX-License-Identifier: Apache-2.0
// Mappings of processes.
#include "tools/profile/address_space.h"

#include <algorithm>
#include <charconv>

namespace pmuconf::profile {
namespace {

// Removes a number and the character `behind` from the front of `text`.
template <typename T>
bool ConsumeNumber(std::string_view& text, int base, char separator, T& value) {
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || at == text.data() + text.size() || *at != separator) return false;
  text.remove_prefix(static_cast<std::size_t>(at - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<Mapping> ParseMapsLine(std::string_view line) {
  Mapping mapping;
  if (!ConsumeNumber(line, 16, '-', mapping.begin) || !ConsumeNumber(line, 16, ' ', mapping.end))
    return std::nullopt;
  if (line.size() < 5 || line[2] != 'x') return std::nullopt;
  line.remove_prefix(5);
  FileKey& file = mapping.file;
  if (!ConsumeNumber(line, 16, ' ', mapping.file_offset) ||
      !ConsumeNumber(line, 16, ':', file.major) || !ConsumeNumber(line, 16, ' ', file.minor)) {
    return std::nullopt;
  }
  const std::size_t inode_end = std::min(line.find(' '), line.size());
  std::from_chars(line.data(), line.data() + inode_end, file.inode);
  line.remove_prefix(inode_end);
  const std::size_t path = line.find_first_not_of(' ');
  if (path != std::string_view::npos) file.path = line.substr(path);
  return mapping;
}

void AddressSpace::Map(const Mapped& mapped) {
  if (mapped.begin >= mapped.end) return;
  std::vector<Mapped> mappings;
  mappings.reserve(mapped_.size() + 2);
  for (const Mapped& old : mapped_) {
    if (old.begin < mapped.begin) {
      mappings.push_back(old);
      mappings.back().end = std::min(old.end, mapped.begin);
    }
    if (old.end > mapped.end) {
      mappings.push_back(old);
      Mapped& rest = mappings.back();
      rest.begin = std::max(old.begin, mapped.end);
      rest.file_offset += rest.begin - old.begin;
    }
  }
  const auto place =
      std::upper_bound(mappings.begin(), mappings.end(), mapped.begin,
                       [](std::uint64_t at, const Mapped& one) { return at < one.begin; });
  mappings.insert(place, mapped);
  mapped_ = std::move(mappings);
}

const Mapped* AddressSpace::Find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(mapped_.begin(), mapped_.end(), address,
                       [](std::uint64_t at, const Mapped& one) { return at < one.begin; });
  if (after == mapped_.begin()) return nullptr;
  const Mapped& found = *std::prev(after);
  return address < found.end ? &found : nullptr;
}

void Processes::Fork(std::uint32_t parent, std::uint32_t child) {
  const auto from = spaces_.find(parent);
  if (from != spaces_.end()) {
    const auto space = from->second;
    spaces_[child] = space;
  }
}

void Processes::Map(std::uint32_t pid, const Mapped& mapped) {
  auto& space = spaces_[pid];
  if (space == nullptr) {
    space = std::make_shared<AddressSpace>();
  } else if (space.use_count() > 1) {
    space = std::make_shared<AddressSpace>(*space);
  }
  space->Map(mapped);
}

void Processes::End(std::uint32_t pid) {
  const auto space = spaces_.find(pid);
  if (space == spaces_.end()) return;
  ended_.push_back({pid, space->second});
  if (ended_.size() <= kMaxEnded) return;
  const Ended oldest = ended_.front();
  ended_.pop_front();
  const auto still = spaces_.find(oldest.pid);
  if (still != spaces_.end() && still->second == oldest.space.lock()) spaces_.erase(still);
}

const AddressSpace* Processes::Find(std::uint32_t pid) const {
  const auto space = spaces_.find(pid);
  return space == spaces_.end() ? nullptr : space->second.get();
}

}  // namespace pmuconf::profile
