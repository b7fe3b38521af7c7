// SPDX-License-Identifier: Apache-2.0
// The files that `pmuconf new` writes.
#ifndef PMUCONF_SCAFFOLD_CHANGE_H_
#define PMUCONF_SCAFFOLD_CHANGE_H_

#include <optional>
#include <string>
#include <vector>

namespace pmuconf::scaffold {

struct Change {
  std::string path;  // from the root of the checkout
  std::string text;  // the whole content
  bool create;       // the file must not exist yet; otherwise it must exist
};

// The result of a writer: files to write, and what to print.
struct Scaffold {
  std::vector<Change> changes;
  std::vector<std::string> notes;  // lines to print after the paths
  std::string next;                // the next command to type
};

// Returns the whole content of a file; nullopt if it cannot be read.
std::optional<std::string> ReadWhole(const std::string& path);

// Writes all files, or none: throws ConfigError if a file cannot be written, and restores the
// files that were already changed.
void Write(const std::string& root, const std::vector<Change>& changes);

}  // namespace pmuconf::scaffold

#endif  // PMUCONF_SCAFFOLD_CHANGE_H_
