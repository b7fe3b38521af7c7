// SPDX-License-Identifier: Apache-2.0
// A lie, as a TOML file describes it (docs/faults.md).
#ifndef PMUCONF_LIES_LIE_H_
#define PMUCONF_LIES_LIE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pmuconf {

// The call that a lie alters, or the memory or file.
enum class LieCall {
  kOpen,       // perf_event_open(2)
  kIoctl,      // ioctl(2) of an event
  kRead,       // read(2) of an event
  kMmap,       // mmap(2) of an event, or over a mapping of one
  kUnmap,      // munmap(2), mremap(2) and mprotect(2) of a mapping of an event
  kPoll,       // poll(2) of an event, epoll_wait(2)
  kFcntl,      // fcntl(2) of an event
  kSignal,     // siginfo that sigtimedwait(2) returns or a handler receives
  kPrctl,      // prctl(2)
  kBpf,        // bpf(2)
  kBpfMemory,  // a global variable of a BPF program
  kSyscall,    // other calls through syscall(2)
  kRecord,     // a record of the ring buffer
  kPage,       // the control page
  kCounter,    // the counter instruction
  kFile,       // the text of a file
  kFolder,     // the names in a folder
  kWrite,      // write(2) to a file
};

// How a number is compared: equal, different, all bits set, no bit set, less, greater.
enum class LieTest { kEqual, kNot, kHas, kHasNot, kLess, kMore };

// True if one of `any` matches the field.
struct LieCondition {
  std::string field;
  std::vector<std::pair<LieTest, std::uint64_t>> any;
};

enum class LieOperation { kSet, kAdd, kAccumulate, kOr, kClear, kCopy, kStale };

struct LieChange {
  std::string field;
  LieOperation operation = LieOperation::kSet;
  std::uint64_t value = 0;
  std::string from;  // kCopy: the field with the value
};

struct LieEffect {
  std::vector<LieChange> request;   // the kernel receives this instead
  std::vector<LieChange> answer;    // the case receives this instead
  bool swallow = false;             // the kernel does not receive the call
  std::optional<int> error;         // the call returns this errno; 0: it succeeds
  bool drop = false;                // the record, signal or poll result is missing
  std::size_t scribble = 0;         // a failed read changes so many bytes of its buffer
  bool twice = false;               // the record occurs twice
  bool late = false;                // the record comes after the next one
  bool absent = false;              // the file is missing
  std::size_t cut = 0;              // the answer has fewer bytes at its end
  std::size_t grow = 0;             // the answer has more bytes at its end, all 0
  std::optional<std::string> text;  // the text of the file
  std::optional<std::pair<std::string, std::string>> replace;  // a pattern in it, and its text
  std::vector<std::string> hide, show;                         // names in a folder

  // Whether it changes what the kernel does, so that its conditions are about the request only.
  bool before() const { return swallow || !request.empty(); }
};

struct Lie {
  std::string id;
  std::string text;
  LieCall call = LieCall::kOpen;
  std::string path = "*";  // glob of a file, or the name of a BPF variable
  std::vector<LieCondition> when;
  std::vector<std::pair<LieTest, std::uint64_t>> nth;  // among the matches; empty: all
  LieEffect effect;
};

// Parses the lie `id` of the TOML in `text`; without an id, the only one. Throws ConfigError with
// one line that names the file and the key.
Lie ParseLie(std::string_view text, const std::string& file, std::string_view id);
// As ParseLie. `name` is FILE:ID, or FILE.
Lie LoadLie(const std::string& name);

// Whether a condition or a change may name the field.
bool IsFieldOf(LieCall call, std::string_view field);

bool Matches(const std::vector<std::pair<LieTest, std::uint64_t>>& any, std::uint64_t value,
             std::uint64_t mask);

}  // namespace pmuconf

#endif  // PMUCONF_LIES_LIE_H_
