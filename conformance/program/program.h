// SPDX-License-Identifier: Apache-2.0
// A program of perf operations: what the fuzzer of system calls makes of its input, what
// `pmuconf repro` replays, and what is printed as text or as C.
//
// It names no number of this machine: PMUs and tracepoints have numbers of their own here, which
// are exchanged for the machine's when it runs.
#ifndef PMUCONF_PROGRAM_PROGRAM_H_
#define PMUCONF_PROGRAM_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmuconf/open_model.h"

namespace pmuconf {

// Bounds of every program.
inline constexpr unsigned kProgramSlots = 8;        // events that are open at once
inline constexpr std::size_t kProgramSteps = 24;    // operations
inline constexpr std::size_t kStepBytes = 64;       // of input, for one operation
inline constexpr unsigned kProgramPageOrder = 3;    // a buffer has 2^3 pages at most
inline constexpr std::size_t kProgramAuxPage = 16;  // where AUX areas are: behind every ring buffer
inline constexpr std::uint64_t kProgramWork = 256;  // rounds of work, or events of a pulse

// Numbers that stand for those of the machine.
inline constexpr std::uint32_t kProgramOwnType = 0x00f0'0001;    // of the target's PMU
inline constexpr std::uint32_t kProgramTraceType = 0x00f0'0002;  // of its PMU with an AUX area
inline constexpr std::uint64_t kProgramTracepoints = 0xfe'0000;  // and the next

enum class Act {
  kOpen,    // into `slot`; `other`: the slot of its leader, if `call` has one
  kIoctl,   // `which`: of ProgramIoctls(); `value`, or `other` where it names an event
  kMap,     // the ring buffer of 2^which pages; an even `value`: writable
  kMapAux,  // the AUX area of 2^which pages; an even `value`: writable
  kUnmap,   // the ring buffer (`which` 0), or the AUX area (1)
  kRead,    // `value` bytes
  kDrain,   // all that is in the buffer, and in the AUX area: so many bytes there ever were
  kPoll,    //
  kClose,   //
  kTasks,   // prctl: all events of this task off (`which` 0) or on (1)
  kFork,    // one child at a time
  kChild,   // lets it exit (`which` 0), execute another program (1), or work (2)
  kWork,    // `which`: spins (0), touches pages (1), yields (2), asks for its parent (3)
  kPulse,   // `value` events of ProgramPulses()[which] on the stimulus port of the target
  kBranch,  // `value` branches there (`which` 0), or at its PMU with an AUX area (1)
  kAttach,  // a BPF program
  kCpu,     // takes the second CPU off (`which` 0) or brings it back (1)
};
inline constexpr unsigned kActs = 17;

// Members that an act does not name are 0.
struct Step {
  Act act = Act::kOpen;
  unsigned slot = 0;
  unsigned other = 0;
  unsigned which = 0;
  std::uint64_t value = 0;
  bool rights = true;  // of kOpen: with those of the caller, or with none
  OpenCall call;       // of kOpen
};

struct Program {
  std::string target = "refpmu";  // what the numbers stand for
  std::vector<Step> steps;
};

struct ProgramIoctl {
  enum class Takes { kValue, kPointer, kEvent, kFilter, kBpf, kAttr };
  std::string_view name;
  std::string_view constant;
  unsigned long request;
  Takes takes;
};
std::span<const ProgramIoctl> ProgramIoctls();
// Event codes of the stimulus port.
std::span<const std::uint32_t> ProgramPulses();
std::string_view ActName(Act act);
unsigned Ways(Act act);  // `which` is below

// Whether it does what concerns the whole machine.
bool TouchesCpus(const Program& program);

// One line for what comes first, and one for each operation.
std::string PrintProgram(const Program& program);
// One operation, as PrintProgram has it.
std::string PrintStep(const Step& step);
// The same program again. Throws ConfigError, which names the line.
Program ParseProgram(std::string_view text);
// Whether a file holds text of a program rather than the input of a fuzzer.
bool IsProgramText(std::string_view text);

// A program in C that does the same and says what each call returned.
std::string PrintProgramAsC(const Program& program);

}  // namespace pmuconf

#endif  // PMUCONF_PROGRAM_PROGRAM_H_
