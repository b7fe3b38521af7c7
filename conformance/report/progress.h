// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a run: on a terminal one line that changes, elsewhere one line per case.
#ifndef PMUCONF_REPORT_PROGRESS_H_
#define PMUCONF_REPORT_PROGRESS_H_

#include <chrono>
#include <ostream>
#include <string>

#include "harness/result.h"

namespace pmuconf {

class Progress {
 public:
  // `live`: `os` is a terminal. `colour`: use colours.
  Progress(std::size_t total, bool live, bool colour, std::ostream& os)
      : total_(total), live_(live), colour_(colour), os_(os) {}

  void Begin(const std::string& id);
  void End(const CaseResult& result);

 private:
  void Clear();

  std::size_t total_, done_ = 0, bad_ = 0;
  bool live_, colour_;
  std::ostream& os_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

// Returns whether to use colours on descriptor `fd`: it is a terminal and NO_COLOR is unset
// (no-color.org).
bool Colour(int fd);

}  // namespace pmuconf

#endif  // PMUCONF_REPORT_PROGRESS_H_
