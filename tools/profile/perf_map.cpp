// SPDX-License-Identifier: Apache-2.0
// Reads perf maps. Any user may have written them, so they are untrusted.
#include "tools/profile/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

#include "system/fd.h"

namespace pmuconf::profile {
namespace {

constexpr std::size_t kLongestLine = 64 * 1024;
// Many programs generate code without a perf map, so unknown addresses must not open the file each
// time.
constexpr unsigned kLongestPause = 64;

std::optional<std::uint64_t> ConsumeHex(std::string_view& line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  std::string_view digits = line.substr(0, space);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || at != digits.data() + digits.size()) return std::nullopt;
  line.remove_prefix(space + 1);
  return value;
}

// Returns the pid inside the process's pid namespace, which is in the name of its file.
std::string OwnNumber(const std::string& process, std::uint32_t pid) {
  std::ifstream status(process + "/status");
  constexpr std::string_view kField = "NSpid:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kField)) return line.substr(line.find_last_of(" \t") + 1);
  }
  return std::to_string(pid);
}

Fd OpenMap(const std::string& root, std::uint32_t pid) {
  const std::string number = std::to_string(pid);
  const std::string process = root + "/proc/" + number;
  const std::string own = process + "/root/tmp/perf-" + OwnNumber(process, pid) + ".map";
  // A process that has exited has no /proc directory, but its file may remain.
  for (const std::string& path : {own, root + "/tmp/perf-" + number + ".map"}) {
    // Any user can create a pipe there, or a link to a file that only root may read.
    Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY));
    struct stat status = {};
    if (file.get() >= 0 && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  }
  return Fd();
}

}  // namespace

void PerfMap::AddLine(std::string_view line) {
  const auto begin = ConsumeHex(line);
  const auto size = begin ? ConsumeHex(line) : std::nullopt;
  if (!size || *size == 0 || line.empty() || *begin + *size < *begin) return;
  // New code may replace older code at the same addresses.
  const std::uint64_t end = *begin + *size;
  auto old = code_.lower_bound(*begin);
  if (old != code_.begin()) {
    const auto before = std::prev(old);
    if (before->first + before->second.size > *begin) old = before;
  }
  while (old != code_.end() && old->first < end) old = code_.erase(old);
  code_[*begin] = {*size, std::string(line)};
}

void PerfMap::Add(std::string_view text) {
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    rest_ += text.substr(0, end);
    AddLine(rest_);
    rest_.clear();
    text.remove_prefix(end + 1);
  }
  if (rest_.size() < kLongestLine) rest_ += text;
}

std::optional<FoundSymbol> PerfMap::Find(std::uint64_t address) const {
  const auto after = code_.upper_bound(address);
  if (after == code_.begin()) return std::nullopt;
  const auto& [begin, code] = *std::prev(after);
  if (address - begin >= code.size) return std::nullopt;
  return FoundSymbol{code.name, address - begin};
}

bool PerfMaps::ReadMore(std::uint32_t pid, File& file) const {
  const Fd opened = OpenMap(root_, pid);
  struct stat status = {};
  if (opened.get() < 0 || fstat(opened.get(), &status) != 0) return false;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < file.bytes_read) file = {};  // the program started a new file
  const std::uint64_t before = file.bytes_read;
  std::array<char, 16 * 1024> part;
  while (file.bytes_read < PerfMap::kMaxBytes) {
    const ssize_t n =
        pread(opened.get(), part.data(), part.size(), static_cast<off_t>(file.bytes_read));
    if (n <= 0) break;
    file.map.Add({part.data(), static_cast<std::size_t>(n)});
    file.bytes_read += static_cast<std::uint64_t>(n);
  }
  return file.bytes_read != before;
}

std::optional<FoundSymbol> PerfMaps::Find(std::uint32_t pid, std::uint64_t address) {
  File& file = files_[pid];
  auto found = file.map.Find(address);
  if (found) return found;
  if (file.pause > 0) {
    --file.pause;
    return std::nullopt;
  }
  if (ReadMore(pid, file)) found = file.map.Find(address);
  file.next_pause = found ? 1 : std::min(2 * file.next_pause, kLongestPause);
  file.pause = found ? 0 : file.next_pause;
  return found;
}

}  // namespace pmuconf::profile
