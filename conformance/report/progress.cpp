// SPDX-License-Identifier: Apache-2.0
// Progress on a terminal and in a log.
#include "report/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace pmuconf {
namespace {

constexpr std::size_t kWidth = 79;
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kPlain = "\x1b[0m";

bool IsGood(Result result) {
  return result == Result::kPass || result == Result::kSkip || result == Result::kWaived;
}

}  // namespace

void Progress::Clear() {
  if (live_) os_ << "\r\x1b[K";
}

void Progress::Begin(const std::string& id) {
  if (!live_) return;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begun_);
  std::ostringstream text;
  text << "[" << done_ + 1 << "/" << total_ << "] ";
  if (bad_ != 0) text << bad_ << " not passed, ";
  text << seconds.count() << " s  " << id;
  const std::string line = text.str().substr(0, kWidth);
  Clear();
  os_ << line << std::flush;
}

void Progress::End(const CaseResult& result) {
  ++done_;
  const bool good = IsGood(result.result);
  bad_ += good ? 0 : 1;
  Clear();
  if (live_ && good) return;
  const bool paint = colour_ && !good;
  os_ << (paint ? kRed : "") << ToString(result.result) << (paint ? kPlain : "") << "  "
      << result.id << std::endl;
}

bool Colour(int fd) {
  const char* const no_color = std::getenv("NO_COLOR");
  return isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0');
}

}  // namespace pmuconf
