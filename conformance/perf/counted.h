// SPDX-License-Identifier: Apache-2.0
// Whether events of a type have counted anything in this process.
#ifndef PMUCONF_PERF_COUNTED_H_
#define PMUCONF_PERF_COUNTED_H_

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace pmuconf {

// Stores a count that was read. Event::Read() and Event::ReadGroup() call it.
void NoteCount(std::uint32_t type, std::uint64_t count);

// Returns whether a count of one of the types was not 0; nullopt if none was read.
std::optional<bool> HasCounted(std::initializer_list<std::uint32_t> types);

}  // namespace pmuconf

#endif  // PMUCONF_PERF_COUNTED_H_
