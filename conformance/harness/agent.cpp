// SPDX-License-Identifier: Apache-2.0
// The agent's main loop and its commands.
#include "harness/agent.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "harness/case.h"
#include "harness/executor.h"
#include "harness/kmsg.h"
#include "harness/process.h"
#include "harness/runner.h"
#include "system/broken.h"
#include "system/context.h"
#include "system/cpu.h"
#include "system/fd.h"
#include "text/json_line.h"

namespace pmuconf {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxReports = 200;
constexpr double kLongestDeadline_s = 86400;

class Agent {
 public:
  Agent(const std::string& target_path, const std::string& channel, bool others)
      : executor_(target_path, context().pmu),
        tty_(open(channel.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (tty_.get() < 0) throw BrokenErrno("channel " + channel, errno);
    if (others) executor_.WatchOtherTasks();
    termios raw = {};
    if (tcgetattr(tty_.get(), &raw) != 0) return;  // not a terminal: already 8-bit clean
    cfmakeraw(&raw);
    cfsetspeed(&raw, B115200);
    if (tcsetattr(tty_.get(), TCSANOW, &raw) != 0) throw BrokenErrno("channel " + channel, errno);
  }

  int Run() {
    utsname name = {};
    uname(&name);
    Send({{"t", "hello"},
          {"protocol", 1},
          {"kernel", name.release},
          {"arch", name.machine},
          {"cpus", OnlineCpus().size()}});
    while (const auto line = ReadLine()) {
      if (line->empty()) continue;
      if (*line == "bye") {
        Send({{"t", "bye"}});
        tcdrain(tty_.get());
        return 0;
      }
      try {
        Execute(*line);
      } catch (const std::exception& error) {
        Error(error.what());
      }
    }
    return 1;  // the host closed the channel
  }

 private:
  void Send(const Json& json) {
    const std::string line = JsonLine(json);
    std::size_t sent = 0;
    while (sent < line.size()) {
      const ssize_t n = write(tty_.get(), line.data() + sent, line.size() - sent);
      if (n < 0 && errno != EINTR) throw BrokenErrno("writing to the channel", errno);
      if (n > 0) sent += static_cast<std::size_t>(n);
    }
  }
  void Error(const std::string& message) { Send({{"t", "error"}, {"message", message}}); }

  // Returns the next line without its newline; nullopt if the channel is closed or the line exceeds
  // the limit.
  std::optional<std::string> ReadLine() {
    while (true) {
      const std::size_t end = buffer_.find('\n');
      if (end != std::string::npos) {
        std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        if (!line.empty() && line.back() == '\r') line.pop_back();
        return line;
      }
      if (buffer_.size() > kLineLimit) return std::nullopt;
      std::array<char, 4096> bytes;
      const ssize_t n = read(tty_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return std::nullopt;
      buffer_.append(bytes.data(), static_cast<std::size_t>(n));
    }
  }

  void Execute(const std::string& line) {
    std::istringstream arguments(line);
    std::string command;
    arguments >> command;
    if (command == "load") {
      Load(arguments);
    } else if (command == "unload") {
      Unload(arguments);
    } else if (command == "case") {
      RunCase(arguments);
    } else if (command == "kmsg") {
      Kmsg();
    } else if (command == "exec") {
      Exec(arguments);
    } else {
      Error("unknown command '" + command + "' (known: load, unload, case, kmsg, exec, bye)");
    }
  }

  void SendAnswer(const char* what, const std::string& error) {
    Send({{"t", what}, {"ok", error.empty()}, {"error", error}});
  }

  void Load(std::istringstream& arguments) {
    std::string file, param, params;
    arguments >> file;
    while (arguments >> param) params += (params.empty() ? "" : " ") + param;
    const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    // A driver of a device often keeps its events on the CPU that loads it, and the first CPU of
    // some machines cannot go offline.
    const OnCpu last(OnlineCpus().back());
    const bool good = fd.get() >= 0 && syscall(SYS_finit_module, fd.get(), params.c_str(), 0) == 0;
    SendAnswer("load", good ? "" : file + ": " + std::strerror(errno));
  }

  void Unload(std::istringstream& arguments) {
    std::string name;
    arguments >> name;
    const bool good = syscall(SYS_delete_module, name.c_str(), O_NONBLOCK) == 0;
    SendAnswer("unload", good ? "" : name + ": " + std::strerror(errno));
  }

  static bool ReadDeadline(std::istringstream& arguments, double* deadline_s) {
    return arguments >> *deadline_s && *deadline_s > 0 && *deadline_s <= kLongestDeadline_s;
  }

  void RunCase(std::istringstream& arguments) {
    std::string id, lie;
    double deadline_s = 0;
    arguments >> id;
    if (!ReadDeadline(arguments, &deadline_s)) return Error("case: needs ID and DEADLINE_S");
    arguments >> lie;
    const CaseInfo* const info = FindCase(id);
    if (info == nullptr) return Error("case: unknown case '" + id + "'");
    Send({{"t", "start"}, {"id", id}});
    const CaseResult result = executor_.Run(*info, deadline_s, lie);
    Json line = {{"t", "result"},
                 {"id", id},
                 {"result", ToString(result.result)},
                 {"duration_s", std::round(result.duration_s * 1000) / 1000},
                 {"message", result.message},
                 {"rules", result.rules},
                 {"pid", result.pid}};
    if (result.skip_reason != SkipReason::kNone) line["skip_reason"] = ToString(result.skip_reason);
    if (!result.capability.empty()) line["capability"] = result.capability;
    if (result.runs > 1) line["runs"] = result.runs;
    if (result.counted) line["counted"] = *result.counted;
    if (result.stuck) line["stuck"] = true;
    if (!result.failed_rules.empty()) line["failed_rules"] = result.failed_rules;
    if (!result.measurements.empty()) line["measurements"] = ToJson(result.measurements);
    if (!result.lie.empty()) {
      line["lie"] = result.lie;
      line["lied"] = result.lied;
      line["named_rules"] = result.named_rules;
    }
    Send(line);
  }

  void Kmsg() {
    std::vector<std::string> reports = FindReports(KernelLog(KernelLog::From::kBoot).Lines());
    if (reports.size() > kMaxReports) {
      const std::size_t more = reports.size() - kMaxReports;
      reports.resize(kMaxReports);
      reports.push_back(std::to_string(more) + " more reports");
    }
    Send({{"t", "kmsg"}, {"reports", reports}});
  }

  void Exec(std::istringstream& arguments) {
    double deadline_s = 0;
    if (!ReadDeadline(arguments, &deadline_s)) return Error("exec: needs DEADLINE_S and JSON_ARGV");
    std::string text;
    std::getline(arguments, text);
    const Json json = Json::parse(text, nullptr, false);
    std::vector<std::string> argv;
    bool good = json.is_array() && !json.empty();
    for (const Json& argument : good ? json : Json::array()) {
      good = good && argument.is_string();
      if (good) argv.push_back(argument.get<std::string>());
    }
    if (!good) return Error("exec: JSON_ARGV must be a list of strings that is not empty");
    const ProcessResult result = RunProcess(argv, deadline_s);
    Send({{"t", "exec"},
          {"status", result.unkillable ? 128 + 9 : result.status},
          {"stdout", result.out},
          {"stderr", result.err + (result.timed_out ? "\n[killed at the deadline]" : "")}});
  }

  Executor executor_;
  Fd tty_;
  std::string buffer_;
};

}  // namespace

int RunAgent(const std::string& target_path, const std::string& channel, bool others) {
  return Agent(target_path, channel, others).Run();
}

}  // namespace pmuconf
