// SPDX-License-Identifier: Apache-2.0
// Bytes to programs: every string of bytes is one, the same one each time.
#ifndef PMUCONF_PROGRAM_GRAMMAR_H_
#define PMUCONF_PROGRAM_GRAMMAR_H_

#include <cstdint>
#include <span>
#include <string>

#include "pmuconf/open_random.h"
#include "program/program.h"

namespace pmuconf {

class Grammar {
 public:
  // Throws ConfigError for a target whose calls the errno model does not know.
  explicit Grammar(const std::string& target);
  Grammar(const Grammar&) = delete;

  // An operation for each kStepBytes; what is missing of the last is 0, what is too much unread.
  Program Decode(std::span<const std::uint8_t> bytes) const;

 private:
  std::string target_;
  OpenModel model_;
  OpenDrawer drawer_;
};

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_GRAMMAR_H_
