// SPDX-License-Identifier: Apache-2.0
#include "tools/fuzz/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "target/target.h"

namespace pmuconf {
namespace {

[[noreturn]] void Fail(const std::string& path, int error) {
  throw ConfigError(path + ": cannot be written: " + std::strerror(error));
}

Fd Create(const std::string& path) {
  constexpr mode_t kMode = 0644;
  Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (fd.get() < 0) Fail(path, errno);
  return fd;
}

void WriteAll(const Fd& fd, const std::string& text, const std::string& path) {
  const ssize_t size = pwrite(fd.get(), text.data(), text.size(), 0);
  if (size < 0) Fail(path, errno);
  if (size != static_cast<ssize_t>(text.size())) Fail(path, ENOSPC);
  if (ftruncate(fd.get(), static_cast<off_t>(text.size())) != 0) Fail(path, errno);
  // Some files, such as pipes, have no disk.
  if (fdatasync(fd.get()) != 0 && errno != EINVAL) Fail(path, errno);
}

}  // namespace

LastProgram::LastProgram(std::string path) : path_(std::move(path)), fd_(Create(path_)) {}

LastProgram::~LastProgram() { unlink(path_.c_str()); }

void LastProgram::Write(const std::string& text) { WriteAll(fd_, text, path_); }

void WriteFinding(const std::string& path, const std::string& text) {
  WriteAll(Create(path), text, path);
}

}  // namespace pmuconf
