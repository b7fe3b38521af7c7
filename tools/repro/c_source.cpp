// SPDX-License-Identifier: Apache-2.0
// Prints programs in C: one call of a helper per operation.
#include <algorithm>
#include <sstream>

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
  }
  return out.str();
}

}  // namespace

std::string PrintProgramAsC(const Program& program) {
  std::ostringstream out;
  out << "/* Prints the result of each call: cc -Wall -o program program.c && ./program, as "
         "root. */\n"
      << "#define PMU \"" << program.target << "\"\n#define SLOTS " << kProgramSlots
      << "\n#define OWN_TYPE " << kProgramOwnType << "u\n#define TRACE_TYPE " << kProgramTraceType
      << "u\n#define AUX_PAGE " << kProgramAuxPage << "\n#define TRACEPOINTS "
      << kProgramTracepoints << "ull\n"
      << kProgramCHelpers << "\n";
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.operation != Operation::kOpen) continue;
    out << "const unsigned char attr_" << i << "[256] = {" << Bytes(step.call.attr) << "\n};\n";
  }
  out << "\nint main(void)\n{\n\tstart();\n";
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    out << "\treport(\"" << i << " " << OperationName(step.operation) << "\", " << CallOf(step, i)
        << ");\n";
  }
  out << "\tfinish();\n\treturn 0;\n}\n";
  return out.str();
}

}  // namespace pmuconf
