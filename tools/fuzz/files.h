// SPDX-License-Identifier: Apache-2.0
// The files of a run: the last program, and findings.
#ifndef PMUCONF_TOOLS_FUZZ_FILES_H_
#define PMUCONF_TOOLS_FUZZ_FILES_H_

#include <string>

#include "system/fd.h"

namespace pmuconf {

// Has the program that runs, so that it is there after a crash of the machine. The destructor
// deletes the file.
class LastProgram {
 public:
  // Throws ConfigError if the file cannot be created.
  explicit LastProgram(std::string path);
  LastProgram(const LastProgram&) = delete;
  ~LastProgram();

  // Returns when the text is on the disk. Throws ConfigError if it cannot be written.
  void Write(const std::string& text);

 private:
  std::string path_;
  Fd fd_;
};

// Writes a file. Throws ConfigError if it cannot be written as a whole.
void WriteFinding(const std::string& path, const std::string& text);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_FUZZ_FILES_H_
