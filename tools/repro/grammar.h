// SPDX-License-Identifier: Apache-2.0
// Decodes bytes to a program. Every byte string is a program, and the result is deterministic.
#ifndef PMUCONF_TOOLS_REPRO_GRAMMAR_H_
#define PMUCONF_TOOLS_REPRO_GRAMMAR_H_

#include <cstdint>
#include <span>
#include <string>

#include "oracle/open_random.h"
#include "tools/repro/program.h"

namespace pmuconf {

class Grammar {
 public:
  // Throws ConfigError if the errno model does not support the target.
  explicit Grammar(const std::string& target);
  // For programs of a PMU of sysfs.
  Grammar(std::string target, OpenPmu own);
  Grammar(const Grammar&) = delete;

  // Decodes an operation from each kStepBytes bytes. Missing bytes of the last operation are 0;
  // bytes beyond the limit are ignored.
  Program Decode(std::span<const std::uint8_t> bytes) const;

 private:
  std::string target_;
  OpenModel model_;
  OpenCallGenerator generator_;
};

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_GRAMMAR_H_
