// SPDX-License-Identifier: Apache-2.0
// Prints programs in C: one call of a helper per operation.
#include <algorithm>
#include <sstream>
#include <string_view>

#include "tools/repro/c_helpers.h"
#include "tools/repro/program.h"

namespace pmuconf {
namespace {

std::string Bytes(const std::vector<std::byte>& attr) {
  constexpr std::size_t kRow = 16;
  std::ostringstream out;
  std::size_t size = attr.size();
  while (size > 1 && attr[size - 1] == std::byte{0}) --size;
  for (std::size_t i = 0; i < size; ++i) {
    out << (i % kRow == 0 ? "\n\t\t" : " ") << std::to_integer<unsigned>(attr[i]) << ",";
  }
  return out.str();
}

int CpuNumber(OpenCpu cpu) {
  constexpr int kBeyond = 1 << 20;
  if (cpu == OpenCpu::kAny) return -1;
  return cpu == OpenCpu::kFirst ? 0 : cpu == OpenCpu::kSecond ? 1 : kBeyond;
}

std::string IoctlOf(const Step& step) {
  const ProgramIoctl& row = ProgramIoctls()[step.which];
  std::ostringstream out;
  const auto call = [&](const std::string& arg) {
    out << "ioctl(fds[" << step.slot << "], " << row.constant << ", " << arg << ")";
  };
  const std::string value = std::to_string(step.value) + "ull";
  switch (row.argument) {
    case ProgramIoctl::Argument::kValue:
      call(value);
      break;
    case ProgramIoctl::Argument::kPointer:
      call("(uint64_t[]){" + (row.name == "QUERY_BPF" ? "2" : value) + ", 0, 0, 0}");
      break;
    case ProgramIoctl::Argument::kEvent:
      call("fds[" + std::to_string(step.other) + "]");
      break;
    case ProgramIoctl::Argument::kFilter:
      call("\"filter 0x1000/0x1000\"");
      break;
    case ProgramIoctl::Argument::kBpf:
      call("bpf_program()");
      break;
    case ProgramIoctl::Argument::kAttr:
      out << "modify(" << step.slot << ", " << value << ")";
      break;
  }
  return out.str();
}

std::string CallOf(const Step& step, std::size_t number) {
  std::ostringstream out;
  const OpenCall& call = step.call;
  switch (step.operation) {
    case Operation::kOpen:
      out << "open_event(" << step.slot << ", " << step.other << ", attr_" << number << ", "
          << call.readable << ", " << static_cast<int>(call.who) << ", " << CpuNumber(call.cpu)
          << ", " << static_cast<int>(call.group) << ", " << call.flags << "ul, "
          << call.descriptors_available << ", " << step.rights << ")";
      break;
    case Operation::kIoctl:
      return IoctlOf(step);
    case Operation::kMap:
      out << "map(" << step.slot << ", " << step.which << ", " << (step.value % 2 == 0) << ")";
      break;
    case Operation::kMapAux:
      out << "map_aux(" << step.slot << ", " << step.which << ", " << (step.value % 2 == 0) << ")";
      break;
    case Operation::kUnmap:
      out << (step.which == 0 ? "unmap(" : "unmap_aux(") << step.slot << ")";
      break;
    case Operation::kRead:
      out << "read_event(" << step.slot << ", " << step.value << ")";
      break;
    case Operation::kDrain:
      out << "drain(" << step.slot << ")";
      break;
    case Operation::kPoll:
      out << "poll_event(" << step.slot << ")";
      break;
    case Operation::kClose:
      out << "close_event(" << step.slot << ")";
      break;
    case Operation::kTasks:
      out << "prctl("
          << (step.which == 0 ? "PR_TASK_PERF_EVENTS_DISABLE" : "PR_TASK_PERF_EVENTS_ENABLE")
          << ", 0, 0, 0, 0)";
      break;
    case Operation::kFork:
      out << "fork_one()";
      break;
    case Operation::kChild:
      out << "let_child(" << step.which << ")";
      break;
    case Operation::kWork:
      out << "work(" << step.which << ", " << step.value << ")";
      break;
    case Operation::kPulse:
      out << "pulse(" << ProgramPulses()[step.which] << ", " << step.value << ")";
      break;
    case Operation::kBranch:
      out << "branch(\"/dev/\" PMU " << (step.which == 0 ? "\"\"" : "\"_trace\"") << ", "
          << step.value << ")";
      break;
    case Operation::kAttach:
      out << "ioctl(fds[" << step.slot << "], PERF_EVENT_IOC_SET_BPF, bpf_program())";
      break;
    case Operation::kCpu:
      out << "second_cpu(" << step.which << ")";
      break;
    case Operation::kAdvance:
      out << "advance(" << step.which << ", " << step.value * kProgramTicks << ")";
      break;
    case Operation::kSignals:
      out << "signals(" << step.slot << ", " << step.which << ")";
      break;
    case Operation::kDuplicate:
      out << "duplicate(" << step.slot << ", " << step.other << ")";
      break;
    case Operation::kChildPulse:
      out << "child_pulse(" << ProgramPulses()[step.which] << ", " << step.value << ")";
      break;
    case Operation::kRace:
      out << "0";
      break;
    case Operation::kAffinity:
      out << "affinity(" << step.which << ")";
      break;
    case Operation::kMapAny: {
      const ProgramMapKind& kind = ProgramMaps()[step.which];
      out << "map_any(" << step.slot << ", " << kind.pages << "ul * page + " << kind.bytes << ", "
          << kind.offset << ", " << kind.shared << ", " << (step.value % 2 == 0) << ")";
      break;
    }
    case Operation::kRemap:
      out << "remap(" << step.slot << ", " << step.which << ")";
      break;
    case Operation::kTail:
      out << "tail(" << step.slot << ", " << step.which << ", " << step.value << "ull)";
      break;
  }
  return out.str();
}

bool HasTasks(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [](const Step& step) {
    return step.task != 0 || step.operation == Operation::kRace;
  });
}

}  // namespace

std::string PrintProgramAsC(const Program& program) {
  std::ostringstream out;
  std::string_view pmu = program.target;
  if (pmu.starts_with(kProgramPmu)) pmu.remove_prefix(kProgramPmu.size());
  out << "/* Prints the result of each call: cc -Wall -pthread -o program program.c && ./program, "
         "as root. */\n"
      << "#define PMU \"" << pmu << "\"\n#define SLOTS " << kProgramSlots << "\n#define OWN_TYPE "
      << kProgramOwnType << "u\n#define TRACE_TYPE " << kProgramTraceType << "u\n#define AUX_PAGE "
      << kProgramAuxPage << "\n#define TRACEPOINTS " << kProgramTracepoints << "ull\n"
      << kProgramCHelpers << "\n";
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.operation != Operation::kOpen) continue;
    out << "const unsigned char attr_" << i << "[256] = {" << Bytes(step.call.attr) << "\n};\n";
  }
  const bool tasks = HasTasks(program);
  if (tasks) out << "\n#define TASKS " << kProgramTasks << "\n" << kProgramCTaskHelpers << "\n";
  const auto call = [&](std::size_t i) {
    const Step& step = program.steps[i];
    return "report(\"" + std::to_string(i) + " " + std::string(OperationName(step.operation)) +
           "\", " + CallOf(step, i) + ");";
  };
  for (std::size_t i = 0; tasks && i < program.steps.size(); ++i) {
    out << "void step_" << i << "(void)\n{\n\t" << call(i) << "\n}\n\n";
  }
  out << "\nint main(void)\n{\n\tstart();\n";
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (!tasks) {
      out << "\t" << call(i) << "\n";
    } else if (step.operation == Operation::kRace && step.which == 0) {
      std::string racers;
      while (i + 1 < program.steps.size() && program.steps[i + 1].operation != Operation::kRace) {
        ++i;
        racers += "\n\t\t{" + std::to_string(program.steps[i].task) + ", step_" +
                  std::to_string(i) + "},";
      }
      out << "\trace((struct racer[]){" << racers << "\n\t\t{-1, NULL}}, "
          << std::max<std::uint64_t>(1, step.value) << ");\n";
    } else {
      out << "\tin_task(" << step.task << ", step_" << i << ");\n";
    }
  }
  out << "\tfinish();\n\treturn 0;\n}\n";
  return out.str();
}

}  // namespace pmuconf
