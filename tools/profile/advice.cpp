// SPDX-License-Identifier: Apache-2.0
// Error messages for failed calls.
#include "tools/profile/advice.h"

#include <sys/utsname.h>

#include <cerrno>
#include <cstring>

#include "text/errno_name.h"

namespace pmuconf::profile {
namespace {

constexpr const char* kRights = ": run it as root, or with CAP_BPF and CAP_PERFMON";

std::string LastLine(const std::string& log) {
  const std::size_t end = log.find_last_not_of('\n');
  if (end == std::string::npos) return "libbpf gave no cause";
  const std::size_t begin = log.rfind('\n', end);
  return log.substr(begin + 1, end - begin);  // npos + 1 is 0
}

}  // namespace

bool IsMissingEvent(int error) {
  return error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == ENXIO;
}

std::string WhyNoEvent(int error, const Options& options, const std::string& event) {
  const std::string begin = "event '" + event + "' ";
  switch (error) {
    case EACCES:
    case EPERM:
      return begin + "is not permitted" + kRights;
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return begin +
             "is not supported on this machine: choose another with -e, or add --fallback for "
             "cpu-clock";
    case EOPNOTSUPP:
      return begin +
             "cannot be sampled, only counted: choose another with -e, or add --fallback "
             "for cpu-clock";
    case ESRCH:
      return "a task of -p or -t does not exist (any more)";
    case EMFILE:
    case ENFILE:
      return "too many open files for an event of each CPU and thread: raise ulimit -n";
    case EBUSY:
      return begin + "needs hardware that another event uses";
    case EINVAL:
      if (options.frequency != 0) {
        return begin + "is refused: -F " + std::to_string(options.frequency) +
               " may be above /proc/sys/kernel/perf_event_max_sample_rate, or its terms are wrong";
      }
      return begin + "is refused: its terms, or -c " + std::to_string(options.period) +
             ", are outside of what its PMU takes";
    default:
      return begin + "cannot be opened: " + ErrnoName(error) + " (" + std::strerror(error) + ")";
  }
}

std::string WhyNoBpf(int error, const std::string& log) {
  switch (error) {
    case EACCES:
    case EPERM:
      return std::string("BPF programs are not permitted") + kRights;
    case ENOSYS:
      return "this kernel has no BPF: it needs CONFIG_BPF_SYSCALL";
    default:
      break;
  }
  utsname name = {};
  uname(&name);
  return std::string("the BPF program was not loaded (") + ErrnoName(error) +
         "): kernel 5.8 or newer with CONFIG_BPF_SYSCALL and CONFIG_PERF_EVENTS is needed, this "
         "is " +
         name.release + "; libbpf: " + LastLine(log);
}

}  // namespace pmuconf::profile
