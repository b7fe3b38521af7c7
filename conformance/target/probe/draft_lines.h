// SPDX-License-Identifier: Apache-2.0
// The lines of a draft, before they are written as a target file or as a table.
#ifndef PMUCONF_TARGET_PROBE_DRAFT_LINES_H_
#define PMUCONF_TARGET_PROBE_DRAFT_LINES_H_

#include <string>
#include <vector>

#include "target/probe/facts.h"

namespace pmuconf {

struct DraftLine {
  enum class Kind {
    kTable,    // `key` is its header
    kComment,  // `how` is the text
    kValue,    // a key of a target file
    kNote,     // a fact that no key of a target file states
  };
  Kind kind = Kind::kComment;
  std::string key;
  std::string value;  // as in a target file
  std::string how;    // how it was found
  Sure sure = Sure::kMeasured;
};

// Returns the lines of the draft for the facts, in the order of the file.
std::vector<DraftLine> DraftLines(const PmuFacts& facts);

}  // namespace pmuconf

#endif  // PMUCONF_TARGET_PROBE_DRAFT_LINES_H_
