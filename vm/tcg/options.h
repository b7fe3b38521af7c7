// SPDX-License-Identifier: Apache-2.0
// The arguments of the plugin.
#ifndef PMUCONF_VM_TCG_OPTIONS_H_
#define PMUCONF_VM_TCG_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace pmuconf::work {

struct Options {
  std::string page;                // the file
  std::uint32_t events = 1;        // set of 1 << REFPMU_WORK_*; instructions always count
  std::optional<unsigned> icount;  // the shift of QEMU's -icount
  bool each = false;               // a block for each CPU, instead of one for all
  // Instructions that a CPU counts in user mode for each return from an interrupt or a fault to it.
  unsigned overcount = 0;

  bool Counts(unsigned event) const { return (events >> event & 1U) != 0; }
};

// Parses words "key=value". On failure returns a message of one line.
std::variant<Options, std::string> ParseOptions(std::span<const char* const> words);

}  // namespace pmuconf::work

#endif  // PMUCONF_VM_TCG_OPTIONS_H_
