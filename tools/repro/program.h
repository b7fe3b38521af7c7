// SPDX-License-Identifier: Apache-2.0
// A program of perf operations. The system call fuzzer decodes its input to a program, `pmuconf
// repro` replays it, and both can print it as text or as C.
//
// A program contains no number of a machine. It has placeholders for types of PMUs and ids of
// tracepoints, which are replaced when it runs.
#ifndef PMUCONF_TOOLS_REPRO_PROGRAM_H_
#define PMUCONF_TOOLS_REPRO_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/open_model.h"

namespace pmuconf {

// Limits of every program.
inline constexpr unsigned kProgramSlots = 8;          // open events
inline constexpr std::size_t kProgramSteps = 24;      // operations of a fuzzer's input
inline constexpr std::size_t kProgramTextSteps = 64;  // operations of a program as text
inline constexpr std::size_t kStepBytes = 64;         // bytes of fuzzer input per operation
inline constexpr unsigned kProgramPageOrder = 3;      // a ring buffer has at most 2^3 pages
// Page offset of AUX areas, behind every ring buffer.
inline constexpr std::size_t kProgramAuxPage = 16;
inline constexpr std::uint64_t kProgramWork = 256;  // rounds of work, or events per pulse
inline constexpr unsigned kProgramTasks = 3;        // threads, which share the slots

// Placeholders for numbers of the machine.
inline constexpr std::uint32_t kProgramOwnType = 0x00f0'0001;  // type of the target's PMU
// Type of the target's PMU with an AUX area.
inline constexpr std::uint32_t kProgramTraceType = 0x00f0'0002;
// Id of a tracepoint; + 1: of another one.
inline constexpr std::uint64_t kProgramTracepoints = 0xfe'0000;

enum class Operation {
  kOpen,    // into `slot`; `other`: slot of the leader, if `call` has one
  kIoctl,   // `which`: index in ProgramIoctls(); `value`, or `other` if it takes an event
  kMap,     // the ring buffer of 2^which pages; an even `value`: writable
  kMapAux,  // the AUX area of 2^which pages; an even `value`: writable
  kUnmap,   // the ring buffer (`which` 0), or the AUX area (1)
  kRead,    // `value` bytes
  kDrain,   // reads as much as the ring buffer and the AUX area can contain
  kPoll,
  kClose,
  kTasks,   // prctl(2): disables (`which` 0) or enables (1) all events of this task
  kFork,    // one child at a time
  kChild,   // the child exits (`which` 0), executes another program (1), or works (2)
  kWork,    // `which`: spins (0), touches pages (1), yields (2), calls getppid() (3)
  kPulse,   // `value` events of ProgramPulses()[which] on the target's stimulus port
  kBranch,  // `value` branches on that port (`which` 0), or on the trace port (1)
  kAttach,  // a BPF program
  kCpu,     // takes the second CPU offline (`which` 0) or online (1)
  // These do not occur in a fuzzer's input.
  kAdvance,     // `value` * kProgramTicks ticks of the manual clock, as user (`which` 0) or kernel
  kDuplicate,   // the descriptor, into the empty slot `other`
  kChildPulse,  // kPulse in the child
  kSignals,     // the event sends signals of the slot (`which` 0); takes those that are pending (1)
  kRace,        // begins a race of the tasks, of `value` rounds (`which` 0); all have to end it (1)
  kAffinity,    // the task may run on each CPU (`which` 0), on the first (1), or on the second (2)
  kMapAny,      // a mapping of an unusual kind: ProgramMaps()[which]
  kRemap,       // makes the ring buffer smaller by mremap (`which` 0), or read-only (1)
  kTail,        // writes `value` as data_tail (`which` 0) or aux_tail (1), like a wrong reader
};
inline constexpr unsigned kDrawnOperations = 17;
inline constexpr unsigned kOperations = 26;
// Each event of the clock counts a fraction of the ticks; this number is a multiple of each.
inline constexpr std::uint64_t kProgramTicks = 4;
inline constexpr unsigned kDrawnPulses = 8;
inline constexpr unsigned kProgramPulses = 14;

// Members that the comment of an act does not mention are 0.
struct Step {
  Operation operation = Operation::kOpen;
  unsigned slot = 0;
  unsigned other = 0;
  unsigned which = 0;
  std::uint64_t value = 0;
  bool rights = true;  // kOpen: with the caller's privileges, or with none
  unsigned task = 0;   // the thread that executes it; 0: the first one
  OpenCall call;       // kOpen only
};

// Prefix of a target that is a PMU in sysfs: "pmu:cpu".
inline constexpr std::string_view kProgramPmu = "pmu:";

struct Program {
  std::string target = "refpmu";  // the target that the placeholders refer to
  std::vector<Step> steps;
};

// A mapping that a careful user would not make.
struct ProgramMapKind {
  std::size_t pages = 0;   // of the mapping
  std::size_t bytes = 0;   // in addition to the pages
  std::size_t offset = 0;  // in pages
  bool shared = true;
};

struct ProgramIoctl {
  enum class Argument { kValue, kPointer, kEvent, kFilter, kBpf, kAttr };
  std::string_view name;
  std::string_view constant;
  unsigned long request;
  Argument argument;
};
std::span<const ProgramIoctl> ProgramIoctls();
// Returns event codes of the stimulus port. The first kDrawnPulses occur in a fuzzer's input.
std::span<const std::uint32_t> ProgramPulses();
std::span<const ProgramMapKind> ProgramMaps();
std::string_view OperationName(Operation operation);
unsigned ChoiceCount(Operation operation);  // number of valid values of `which`

// Returns whether the program switches CPUs off or on.
bool SwitchesCpus(const Program& program);

// Prints a header line and one line per operation.
std::string PrintProgram(const Program& program);
// Prints one operation as PrintProgram() does.
std::string PrintStep(const Step& step);
// Parses the output of PrintProgram(). Throws ConfigError with the line number.
Program ParseProgram(std::string_view text);
// Returns whether a file is a program as text, not a fuzzer's input.
bool IsProgramText(std::string_view text);

// Returns a C program that does the same and prints the result of each call.
std::string PrintProgramAsC(const Program& program);

}  // namespace pmuconf

#endif  // PMUCONF_TOOLS_REPRO_PROGRAM_H_
