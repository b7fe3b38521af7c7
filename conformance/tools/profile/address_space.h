// SPDX-License-Identifier: Apache-2.0
// Which file is mapped where in a process, and the processes that there are or were.
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

// A file, however it is named where.
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

// A line of /proc/PID/maps; nullopt where it is not executable, or not understood.
std::optional<Mapping> ParseMapsLine(std::string_view line);

struct Mapped {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::uint32_t module = 0;
};

// Executable mappings by address. A new one takes the place of those under it.
class AddressSpace {
 public:
  void Map(const Mapped& mapped);
  const Mapped* Find(std::uint64_t address) const;
  std::size_t size() const { return mapped_.size(); }

 private:
  std::vector<Mapped> mapped_;  // sorted, apart from each other
};

// The address spaces of processes, as records of the kernel tell of them in their order.
class Processes {
 public:
  // Those that ended are kept for samples that come late; the oldest of more than that are not.
  static constexpr std::size_t kEndedKept = 1024;

  bool Knows(std::uint32_t pid) const { return spaces_.contains(pid); }
  void Begin(std::uint32_t pid) { spaces_[pid] = std::make_shared<AddressSpace>(); }  // or exec
  void Fork(std::uint32_t parent, std::uint32_t child);
  void Map(std::uint32_t pid, const Mapped& mapped);
  void End(std::uint32_t pid);
  const AddressSpace* Find(std::uint32_t pid) const;
  std::size_t size() const { return spaces_.size(); }

 private:
  // Forked processes share one until either maps something.
  std::unordered_map<std::uint32_t, std::shared_ptr<AddressSpace>> spaces_;
  struct Ended {
    std::uint32_t pid;
    std::weak_ptr<AddressSpace> space;  // the number may belong to another process by then
  };
  std::deque<Ended> ended_;
};

}  // namespace pmuconf::profile

#endif  // PMUCONF_TOOLS_PROFILE_ADDRESS_SPACE_H_
