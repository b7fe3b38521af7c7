// SPDX-License-Identifier: Apache-2.0
// Tracepoints as tracefs describes them: their ids, and the fields of what they record.
#ifndef PMUCONF_TRACEFS_H_
#define PMUCONF_TRACEFS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmuconf {

// tracefs, mounted while this lives: it was already, or it goes again. Asserts.
class TraceFs {
 public:
  TraceFs();
  TraceFs(const TraceFs&) = delete;
  ~TraceFs();

  // The file of a tracepoint ("syscalls:sys_enter_getppid", "format"). Asserts that it is there.
  std::string Read(const std::string& tracepoint, const std::string& file) const;
  std::uint64_t Id(const std::string& tracepoint) const;  // attr.config

 private:
  bool mounted_ = false;
};

// A field of a record. `offset` and `size` are bytes.
struct TraceField {
  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool is_signed = false;
};

// The fields that a format file lists, in its order; nullopt for one that is not understood.
std::optional<std::vector<TraceField>> ParseTraceFormat(std::string_view text);

}  // namespace pmuconf

#endif  // PMUCONF_TRACEFS_H_
