// SPDX-License-Identifier: Apache-2.0
// BPF programs on events.
#include "perf/bpf.h"

#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "system/broken.h"
#include "system/context.h"

namespace pmuconf {
namespace {

constexpr std::size_t kLogEnd = 4096;

int AppendToLog(libbpf_print_level level, const char* format, va_list args) {
  if (level == LIBBPF_DEBUG) return 0;
  // The verifier's whole log is one message, and the error is at its end, so the end is kept.
  char* text = nullptr;
  const int n = vasprintf(&text, format, args);
  if (n < 0) return n;
  std::string& log = context().bpf_log;
  log += text;
  std::free(text);
  if (log.size() > kLogEnd) log.erase(0, log.size() - kLogEnd);
  return n;
}

}  // namespace

void BpfBroken(const char* what, int error) {
  throw BrokenErrno(std::string("BPF ") + what + " (" + context().bpf_log + ")", error);
}

void PopulateVariables(const bpf_object* object) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object) {
    std::size_t size = 0;
    const auto* bytes = static_cast<const volatile char*>(bpf_map__initial_value(map, &size));
    if (bytes == nullptr) continue;  // not a map of variables
    for (std::size_t at = 0; at < size; at += page) static_cast<void>(bytes[at]);
  }
}

void SilenceLibbpf() { libbpf_set_print(AppendToLog); }

int ProgramFd(const bpf_program* program) {
  const int fd = bpf_program__fd(program);
  if (fd < 0) BpfBroken("program is not loaded", -fd);
  return fd;
}

std::uint32_t ProgramId(const bpf_program* program) {
  bpf_prog_info info = {};
  std::uint32_t size = sizeof(info);
  const int error = bpf_obj_get_info_by_fd(ProgramFd(program), &info, &size);
  if (error != 0) BpfBroken("information on a program", -error);
  return info.id;
}

namespace {

int CreateLink(const bpf_program* program, const Event& event, std::uint64_t cookie) {
  LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event = {.bpf_cookie = cookie});
  return bpf_link_create(ProgramFd(program), event.fd(), BPF_PERF_EVENT, &options);
}

}  // namespace

SysResult TryAttachBpf(const bpf_program* program, const Event& event, std::uint64_t cookie) {
  const Fd fd(CreateLink(program, event, cookie));
  return fd.get() < 0 ? SysResult{-1, -fd.get()} : SysResult{0, 0};
}

BpfLink AttachBpf(const bpf_program* program, const Event& event, std::uint64_t cookie) {
  const int fd = CreateLink(program, event, cookie);
  if (fd < 0) BpfBroken("link to an event", -fd);
  return BpfLink(fd);
}

}  // namespace pmuconf
