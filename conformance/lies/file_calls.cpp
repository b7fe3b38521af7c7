// SPDX-License-Identifier: Apache-2.0
// Writes to files of the kernel.
#include "lies/call_result.h"
#include "lies/events.h"
#include "lies/real_calls.h"

namespace pmuconf {
namespace {

template <typename Ask>
CallResult WriteWithLie(Liar* liar, std::size_t size, const Ask& ask) {
  Slots slots;
  slots.AddFact("size", size);
  return CallWithLie(
      liar, &slots, ask, [](const CallResult&) {},
      [&](CallResult* outcome) {
        const LieEffect& effect = liar->effect();
        if (effect.swallow || (effect.error && outcome->error != 0))
          outcome->result = static_cast<long>(size);
        if (effect.error) outcome->error = *effect.error;
      });
}

// The lie about writes to this file, or null.
Liar* LiarAboutWrites(int fd) {
  Liar* const liar = LiarAbout(LieCall::kWrite);
  return liar != nullptr && MatchesPath(liar->lie().path, PathOf(fd)) ? liar : nullptr;
}

}  // namespace
}  // namespace pmuconf

extern "C" {

ssize_t __wrap_write(int fd, const void* buffer, size_t size) {
  pmuconf::Liar* const liar = pmuconf::LiarAboutWrites(fd);
  if (liar == nullptr) return __real_write(fd, buffer, size);
  const auto ask = [&] { return pmuconf::ResultOfCall(__real_write(fd, buffer, size)); };
  return pmuconf::WriteWithLie(liar, size, ask).Return();
}

ssize_t __wrap_writev(int fd, const iovec* parts, int n) {
  pmuconf::Liar* const liar = pmuconf::LiarAboutWrites(fd);
  if (liar == nullptr) return __real_writev(fd, parts, n);
  std::size_t size = 0;
  for (int i = 0; i < n; ++i) size += parts[i].iov_len;
  const auto ask = [&] { return pmuconf::ResultOfCall(__real_writev(fd, parts, n)); };
  return pmuconf::WriteWithLie(liar, size, ask).Return();
}

}  // extern "C"
