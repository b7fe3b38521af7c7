// SPDX-License-Identifier: Apache-2.0
// Tracepoints as tracefs describes them: their ids and the fields of their records.
#ifndef PMUCONF_SYSTEM_TRACEFS_H_
#define PMUCONF_SYSTEM_TRACEFS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

// Mounts tracefs, and unmounts it on destruction unless it was mounted before. Throws Broken on
// failure.
class TraceFs {
 public:
  TraceFs();
  TraceFs(const TraceFs&) = delete;
  ~TraceFs();

  // Returns a file of a tracepoint, e.g. ("syscalls:sys_enter_getppid", "format"). Throws Broken if
  // it is absent.
  std::string Read(const std::string& tracepoint, const std::string& file) const;
  std::uint64_t Id(const std::string& tracepoint) const;  // attr.config

 private:
  bool mounted_ = false;
};

// A field of a record. `offset` and `size` are in bytes.
struct TraceField {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool is_signed = false;
};

// Returns the fields in a format file, in its order; nullopt if the file is invalid.
std::optional<std::vector<TraceField>> ParseTraceFormat(std::string_view text);

}  // namespace pmuconf

#endif  // PMUCONF_SYSTEM_TRACEFS_H_
