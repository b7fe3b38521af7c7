// SPDX-License-Identifier: Apache-2.0
// The actions: nothing, a loop, page faults, system calls.
#include "target/probe/actions.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <utility>

namespace pmuconf {
namespace {

constexpr int kLoopTurns = 100'000;
constexpr std::uint64_t kPages = 100;
constexpr std::uint64_t kCalls = 100;
constexpr const char* kFreshPages = "100 fresh pages";
constexpr const char* kSystemCalls = "100 system calls";

}  // namespace

ActionCounts CountActions(const std::function<OpenResult()>& open) {
  const std::pair<const char*, std::function<void()>> deeds[] = {
      {"nothing", [] {}},
      {"a loop of 100000 turns",
       [] {
         for (int i = 0; i < kLoopTurns; ++i) asm volatile("");
       }},
      {kFreshPages,
       [] {
         const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
         void* const area = mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         if (area == MAP_FAILED) return;
         for (std::uint64_t i = 0; i < kPages; ++i) {
           static_cast<volatile char*>(area)[i * page] = 1;
         }
         munmap(area, kPages * page);
       }},
      {kSystemCalls,
       [] {
         for (std::uint64_t i = 0; i < kCalls; ++i) syscall(SYS_getppid);
       }},
  };
  ActionCounts found = {.counts = "counted"};
  std::map<std::string, std::uint64_t> counts;
  const char* separator = " ";
  for (const auto& [what, deed] : deeds) {
    const OpenResult opened = open();
    if (!opened.ok() || !opened.event.TryEnable().ok()) continue;
    deed();
    opened.event.Disable();
    counts[what] = opened.event.Read().value;
    found.counts += separator + std::to_string(counts[what]) + " in " + std::string(what);
    separator = ", ";
  }
  // The stimulus is certain only if the event counted each occurrence once and nothing else.
  std::uint64_t all = 0;
  for (const auto& [what, count] : counts) all += count;
  if (all == kPages && counts[kFreshPages] == kPages) found.stimulus = "page_faults";
  if (all == kCalls && counts[kSystemCalls] == kCalls) found.stimulus = "syscalls";
  return found;
}

}  // namespace pmuconf
