// SPDX-License-Identifier: Apache-2.0
// The mapped files of a process, and the processes of the system, past and present.
#ifndef PMUCONF_TOOLS_PROFILE_ADDRESS_SPACE_H_
#define PMUCONF_TOOLS_PROFILE_ADDRESS_SPACE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pmuconf::profile {

// The identity of a file. Its path depends on the mount namespace.
struct FileKey {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint64_t inode = 0;
  std::string path;  // in the mount namespace of the process

  bool operator==(const FileKey&) const = default;
};

// One executable mapping.
struct Mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  FileKey file;
};

// Parses a line of /proc/PID/maps. Returns nullopt if the mapping is not executable or the line is
// invalid.
std::optional<Mapping> ParseMapsLine(std::string_view line);

struct Mapped {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint32_t module = 0;
};

// Executable mappings by address. A new mapping replaces the parts of others that it covers.
class AddressSpace {
 public:
  void Map(const Mapped& mapped);
  const Mapped* Find(std::uint64_t address) const;
  std::size_t size() const { return mapped_.size(); }

 private:
  std::vector<Mapped> mapped_;  // sorted, disjoint
};

// The address spaces of processes, updated by side-band records in order of time.
class Processes {
 public:
  // Number of ended processes that are kept for late samples. Older ones are dropped.
  static constexpr std::size_t kMaxEnded = 1024;

  bool IsKnown(std::uint32_t pid) const { return spaces_.contains(pid); }
  // Call this also after exec.
  void Begin(std::uint32_t pid) { spaces_[pid] = std::make_shared<AddressSpace>(); }
  void Fork(std::uint32_t parent, std::uint32_t child);
  void Map(std::uint32_t pid, const Mapped& mapped);
  void End(std::uint32_t pid);
  const AddressSpace* Find(std::uint32_t pid) const;
  std::size_t size() const { return spaces_.size(); }

 private:
  // A forked process shares its parent's address space until either maps something.
  std::unordered_map<std::uint32_t, std::shared_ptr<AddressSpace>> spaces_;
  struct Ended {
    std::uint32_t pid;
    std::weak_ptr<AddressSpace> space;  // expired once another process has the pid
  };
  std::deque<Ended> ended_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_ADDRESS_SPACE_H_
