// SPDX-License-Identifier: Apache-2.0
// perf_event_open(2), ioctl(2), read(2) and fcntl(2) of events, bpf(2), and other calls through
// syscall(2).
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <vector>

#include "lies/call_result.h"
#include "lies/events.h"
#include "lies/real_calls.h"
#include "lies/record_slots.h"

namespace pmuconf {
namespace {

constexpr auto kNothing = [](auto) {};

// Copies memory of this process that may be unmapped. Returns whether all of it could be copied.
bool CopyFrom(const void* from, void* to, std::size_t n) {
  const iovec local = {to, n};
  const iovec remote = {const_cast<void*>(from), n};
  const long pid = __real_syscall(SYS_getpid);
  return __real_syscall(SYS_process_vm_readv, pid, &local, 1L, &remote, 1L, 0L) ==
         static_cast<long>(n);
}

// Returns the bytes of the attr that the kernel reads; empty if they are not readable.
std::vector<std::byte> CopyAttr(const void* user) {
  std::uint32_t size = 0;
  if (!CopyFrom(static_cast<const std::byte*>(user) + offsetof(perf_event_attr, size), &size, 4)) {
    return {};
  }
  constexpr std::uint32_t kLongest = 4096;
  if (size == 0) size = PERF_ATTR_SIZE_VER0;
  std::vector<std::byte> copy(std::clamp<std::uint32_t>(size, 8, kLongest));
  if (!CopyFrom(user, copy.data(), copy.size())) copy.clear();
  return copy;
}

perf_event_attr AttrFrom(const std::vector<std::byte>& bytes) {
  perf_event_attr attr = {};
  std::memcpy(&attr, bytes.data(), std::min(bytes.size(), sizeof(attr)));
  return attr;
}

// An event that stands for one that the kernel did not open.
long AnyDescriptor() {
  perf_event_attr attr = {};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = PERF_ATTR_SIZE_VER0;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.exclude_kernel = 1;
  const long fd = __real_syscall(SYS_perf_event_open, &attr, 0L, -1L, -1L,
                                 static_cast<long>(PERF_FLAG_FD_CLOEXEC));
  return fd >= 0 ? fd : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

CallResult OpenWithLie(Liar* liar, const void* user, int pid, int cpu, int group_fd,
                       unsigned long flags) {
  std::vector<std::byte> attr = CopyAttr(user);
  const std::vector<std::byte> before = attr;
  Slots slots;
  slots.AddFact("attr_address", reinterpret_cast<std::uintptr_t>(user));
  slots.Add("pid", &pid);
  slots.Add("cpu", &cpu);
  slots.Add("group_fd", &group_fd);
  slots.Add("flags", &flags);
  slots.AddFact("compat", 0);
  AddAttr(attr.data(), attr.size(), &slots);
  std::uint32_t written_size = 0;
  const LieEffect& effect = liar->effect();
  const auto ask = [&] {
    const void* const passed = attr == before ? user : attr.data();
    return ResultOfCall(__real_syscall(SYS_perf_event_open, passed, static_cast<long>(pid),
                                       static_cast<long>(cpu), static_cast<long>(group_fd), flags));
  };
  const void* const size_at = static_cast<const std::byte*>(user) + offsetof(perf_event_attr, size);
  const auto told = [&](const CallResult&) {
    if (CopyFrom(size_at, &written_size, sizeof(written_size)))
      slots.Add("written_size", &written_size);
  };
  const auto applied = [&](CallResult* outcome) {
    if (slots.Find("written_size") != nullptr && written_size != AttrFrom(before).size)
      std::memcpy(const_cast<void*>(size_at), &written_size, sizeof(written_size));
    if (!effect.error) return;
    if (*effect.error != 0 && outcome->error == 0) close(static_cast<int>(outcome->result));
    if (*effect.error == 0 && (outcome->error != 0 || effect.swallow))
      outcome->result = AnyDescriptor();
    outcome->error = *effect.error;
  };
  const CallResult outcome = CallWithLie(liar, &slots, ask, told, applied);
  if (outcome.error == 0) NoteEvent(static_cast<int>(outcome.result), AttrFrom(before));
  return outcome;
}

CallResult Open(const void* user, int pid, int cpu, int group_fd, unsigned long flags) {
  if (Liar* const liar = LiarAbout(LieCall::kOpen))
    return OpenWithLie(liar, user, pid, cpu, group_fd, flags);
  const CallResult outcome =
      ResultOfCall(__real_syscall(SYS_perf_event_open, user, static_cast<long>(pid),
                                  static_cast<long>(cpu), static_cast<long>(group_fd), flags));
  if (CurrentLiar() != nullptr && outcome.error == 0)
    NoteEvent(static_cast<int>(outcome.result), AttrFrom(CopyAttr(user)));
  return outcome;
}

// Applies `error` of the effect, for calls that return no descriptor.
void SetError(const LieEffect& effect, CallResult* outcome) {
  if (!effect.error) return;
  if (*effect.error == 0 && outcome->error != 0) outcome->result = 0;
  outcome->error = *effect.error;
}

CallResult IoctlWithLie(Liar* liar, int fd, unsigned long request, unsigned long arg) {
  std::uint64_t period = 0;
  const bool has_period = request == PERF_EVENT_IOC_PERIOD &&
                          CopyFrom(reinterpret_cast<void*>(arg), &period, sizeof(period));
  const std::uint64_t period_before = period;
  Slots slots;
  slots.Add("request", &request);
  slots.Add("arg", &arg);
  slots.AddFact("compat", 0);
  if (has_period) slots.Add("period", &period);
  AddAttrOf(fd, &slots);
  const auto ask = [&] {
    if (period != period_before) arg = reinterpret_cast<unsigned long>(&period);
    return ResultOfCall(__real_ioctl(fd, request, arg));
  };
  const unsigned long asked = request;
  const auto told = [&](const CallResult& outcome) {
    if (asked == PERF_EVENT_IOC_ID && outcome.error == 0)
      slots.Add("id", reinterpret_cast<std::uint64_t*>(arg));
    if (asked == PERF_EVENT_IOC_QUERY_BPF) {
      auto* const query = reinterpret_cast<perf_event_query_bpf*>(arg);
      slots.Add("ids_len", &query->ids_len);
      slots.Add("prog_cnt", &query->prog_cnt);
    }
  };
  const auto applied = [&](CallResult* outcome) { SetError(liar->effect(), outcome); };
  return CallWithLie(liar, &slots, ask, told, applied);
}

CallResult ReadWithLie(Liar* liar, int fd, void* buffer, std::size_t size) {
  Slots slots;
  slots.Add("size", &size);
  AddAttrOf(fd, &slots);
  const std::size_t capacity = size;
  const LieEffect& effect = liar->effect();
  const auto ask = [&] { return ResultOfCall(__real_read(fd, buffer, size)); };
  const auto told = [&](const CallResult& outcome) {
    if (outcome.error != 0) return;
    // An event that another process opened: with both times, or the count alone.
    const std::uint64_t unknown = outcome.result == 24 ? kReadTimes : 0;
    AddReading({static_cast<std::byte*>(buffer), static_cast<std::size_t>(outcome.result)},
               AttrOf(fd) != nullptr ? AttrOf(fd)->read_format : unknown, "", &slots);
  };
  const auto applied = [&](CallResult* outcome) {
    if (outcome->error == 0 && outcome->result >= 0) {
      const auto n = static_cast<std::size_t>(outcome->result);
      outcome->result -= static_cast<long>(std::min(n, effect.cut));
      const std::size_t more = std::min(effect.grow, capacity - std::min(capacity, n));
      std::memset(static_cast<std::byte*>(buffer) + n, 0, more);
      outcome->result += static_cast<long>(more);
    }
    if (outcome->error != 0) std::memset(buffer, 0, std::min(effect.scribble, capacity));
    SetError(effect, outcome);
  };
  return CallWithLie(liar, &slots, ask, told, applied);
}

// Calls that only have a command and a result.
template <typename Ask>
CallResult CommandWithLie(Liar* liar, int fd, const char* name, long command, long arg,
                          const Ask& ask) {
  Slots slots;
  slots.AddFact(name, static_cast<std::uint64_t>(command));
  slots.AddFact("arg", static_cast<std::uint64_t>(arg));
  if (fd >= 0) AddAttrOf(fd, &slots);
  return CallWithLie(
      liar, &slots, [&] { return ResultOfCall(ask()); }, kNothing,
      [&](CallResult* outcome) { SetError(liar->effect(), outcome); });
}

// The attr of bpf(2) for calls on the elements of a map.
struct MapElement {
  std::uint32_t map_fd;
  std::uint32_t padding;
  std::uint64_t key;
  std::uint64_t value;
  std::uint64_t flags;
};

CallResult BpfWithLie(Liar* liar, long command, void* attr, long size) {
  Slots slots;
  slots.AddFact("command", static_cast<std::uint64_t>(command));
  const auto told = [&](const CallResult& outcome) {
    if (command != BPF_MAP_LOOKUP_ELEM || outcome.error != 0) return;
    const auto* const element = static_cast<const MapElement*>(attr);
    slots.AddBytes("value", reinterpret_cast<std::byte*>(element->value), 4);
  };
  return CallWithLie(
      liar, &slots, [&] { return ResultOfCall(__real_syscall(SYS_bpf, command, attr, size)); },
      told, [&](CallResult* outcome) { SetError(liar->effect(), outcome); });
}

long SyscallWithLie(long number, long a, long b, long c, long d, long e, long f) {
  const int before = errno;
  const auto ask = [&] { return __real_syscall(number, a, b, c, d, e, f); };
  CallResult outcome;
  if (number == SYS_perf_event_open) {
    outcome = Open(reinterpret_cast<const void*>(a), static_cast<int>(b), static_cast<int>(c),
                   static_cast<int>(d), static_cast<unsigned long>(e));
  } else if (Liar* const liar = LiarAbout(LieCall::kBpf); number == SYS_bpf && liar != nullptr) {
    outcome = BpfWithLie(liar, a, reinterpret_cast<void*>(b), c);
  } else if (Liar* const other = LiarAbout(LieCall::kSyscall)) {
    outcome = CommandWithLie(other, -1, "number", number, a, ask);
  } else {
    outcome = ResultOfCall(ask());
  }
  if (outcome.error == 0) errno = before;
  return outcome.Return();
}

}  // namespace
}  // namespace pmuconf

using pmuconf::IsEvent;
using pmuconf::LiarAbout;
using pmuconf::LieCall;

extern "C" {

// The parameters of syscall(2), which are in the same places as its variable ones.
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const bool lies =
      pmuconf::CurrentLiar() != nullptr && (number == SYS_perf_event_open || number == SYS_bpf ||
                                            LiarAbout(LieCall::kSyscall) != nullptr);
  return lies ? pmuconf::SyscallWithLie(number, a, b, c, d, e, f)
              : __real_syscall(number, a, b, c, d, e, f);
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  const unsigned long arg = va_arg(list, unsigned long);
  va_end(list);
  pmuconf::Liar* const liar = LiarAbout(LieCall::kIoctl);
  if (liar == nullptr || !IsEvent(fd)) return __real_ioctl(fd, request, arg);
  return static_cast<int>(pmuconf::IoctlWithLie(liar, fd, request, arg).Return());
}

ssize_t __wrap_read(int fd, void* buffer, size_t size) {
  pmuconf::Liar* const liar = LiarAbout(LieCall::kRead);
  if (liar == nullptr || !IsEvent(fd)) return __real_read(fd, buffer, size);
  return pmuconf::ReadWithLie(liar, fd, buffer, size).Return();
}

int __wrap_fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long arg = va_arg(list, long);
  va_end(list);
  const auto ask = [&] { return __real_fcntl(fd, command, arg); };
  pmuconf::Liar* const liar = LiarAbout(LieCall::kFcntl);
  if (liar == nullptr || !IsEvent(fd)) return ask();
  return static_cast<int>(pmuconf::CommandWithLie(liar, fd, "command", command, arg, ask).Return());
}

int __wrap_prctl(int command, ...) {
  va_list list;
  va_start(list, command);
  long a[4];
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  const auto ask = [&] { return __real_prctl(command, a[0], a[1], a[2], a[3]); };
  pmuconf::Liar* const liar = LiarAbout(LieCall::kPrctl);
  if (liar == nullptr) return ask();
  return static_cast<int>(
      pmuconf::CommandWithLie(liar, -1, "command", command, a[0], ask).Return());
}

}  // extern "C"
