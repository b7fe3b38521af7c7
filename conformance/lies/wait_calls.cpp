// SPDX-License-Identifier: Apache-2.0
// poll(2), epoll_wait(2) and signals: whether and how the kernel notifies a case. Writes to files.
#include <array>
#include <cerrno>

#include "lies/call_result.h"
#include "lies/events.h"
#include "lies/real_calls.h"

namespace pmuconf {
namespace {

int PollWithLie(Liar* liar, pollfd* fds, nfds_t n, int timeout_ms) {
  const int result = __real_poll(fds, n, timeout_ms);
  if (result < 0) return result;
  int ready = 0;
  for (nfds_t i = 0; i < n; ++i) {
    Slots slots;
    slots.Add("events", &fds[i].events);
    slots.Add("revents", &fds[i].revents);
    slots.AddFact("result", static_cast<std::uint64_t>(result));
    AddAttrOf(fds[i].fd, &slots);
    if (IsEvent(fds[i].fd) && liar->Applies(slots)) {
      liar->ChangeAnswer(&slots);
      if (liar->effect().drop) fds[i].revents = 0;
    }
    ready += fds[i].revents != 0 ? 1 : 0;
  }
  return ready;
}

int EpollWithLie(Liar* liar, int fd, epoll_event* events, int n, int timeout_ms) {
  const int result = __real_epoll_wait(fd, events, n, timeout_ms);
  int ready = 0;
  for (int i = 0; i < result; ++i) {
    Slots slots;
    std::uint32_t revents = events[i].events;  // the structure is packed
    slots.Add("revents", &revents);
    slots.AddFact("result", static_cast<std::uint64_t>(result));
    if (liar->Applies(slots)) {
      liar->ChangeAnswer(&slots);
      if (liar->effect().drop) revents = 0;
    }
    events[i].events = revents;
    if (revents != 0) events[ready++] = events[i];
  }
  return result < 0 ? result : ready;
}

// Changes a signal's information. Returns whether the case receives the signal.
bool Deliver(Liar* liar, siginfo_t* info) {
  Slots slots;
  slots.Add("signo", &info->si_signo);
  slots.Add("code", &info->si_code);
  slots.Add("fd", &info->si_fd);
  slots.Add("band", &info->si_band);
  slots.Add("addr", &info->si_addr);
  // The fields for TRAP_PERF, which old C libraries do not define.
  auto* const behind = reinterpret_cast<std::byte*>(&info->si_addr) + sizeof(info->si_addr);
  slots.AddBytes("perf_data", behind, 8);
  slots.AddBytes("perf_type", behind + 8, 4);
  slots.AddBytes("perf_flags", behind + 12, 4);
  if (!liar->Applies(slots)) return true;
  liar->ChangeAnswer(&slots);
  return !liar->effect().drop;
}

std::array<struct sigaction, 65> handlers;

void Handle(int signal, siginfo_t* info, void* state) {
  const int error = errno;
  const struct sigaction& handler = handlers[static_cast<std::size_t>(signal)];
  Liar* const liar = LiarAbout(LieCall::kSignal);
  const bool deliver = liar == nullptr || Deliver(liar, info);
  errno = error;
  if (!deliver) return;
  if (handler.sa_flags & SA_SIGINFO) {
    handler.sa_sigaction(signal, info, state);
  } else {
    handler.sa_handler(signal);
  }
}

}  // namespace
}  // namespace pmuconf

using pmuconf::LiarAbout;
using pmuconf::LieCall;

extern "C" {

int __wrap_poll(pollfd* fds, nfds_t n, int timeout_ms) {
  pmuconf::Liar* const liar = LiarAbout(LieCall::kPoll);
  if (liar == nullptr) return __real_poll(fds, n, timeout_ms);
  return pmuconf::PollWithLie(liar, fds, n, timeout_ms);
}

int __wrap_epoll_wait(int fd, epoll_event* events, int n, int timeout_ms) {
  pmuconf::Liar* const liar = LiarAbout(LieCall::kPoll);
  if (liar == nullptr) return __real_epoll_wait(fd, events, n, timeout_ms);
  return pmuconf::EpollWithLie(liar, fd, events, n, timeout_ms);
}

int __wrap_sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  pmuconf::Liar* const liar = LiarAbout(LieCall::kSignal);
  siginfo_t own = {};
  siginfo_t* const at = info != nullptr ? info : &own;
  while (true) {
    const int signal = __real_sigtimedwait(set, at, timeout);
    if (liar == nullptr || signal < 0) return signal;
    if (pmuconf::Deliver(liar, at)) return at->si_signo;
  }
}

int __wrap_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  const bool lie = action != nullptr && LiarAbout(LieCall::kSignal) != nullptr && signal > 0 &&
                   signal < static_cast<int>(pmuconf::handlers.size()) &&
                   action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
  if (!lie) return __real_sigaction(signal, action, before);
  pmuconf::handlers[static_cast<std::size_t>(signal)] = *action;
  struct sigaction between = *action;
  between.sa_sigaction = pmuconf::Handle;
  between.sa_flags |= SA_SIGINFO;
  return __real_sigaction(signal, &between, before);
}

}  // extern "C"
