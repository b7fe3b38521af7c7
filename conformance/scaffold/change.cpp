// SPDX-License-Identifier: Apache-2.0
// Each file is written under a temporary name in its own folder, and then renamed.
#include "scaffold/change.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "target/target.h"

namespace pmuconf::scaffold {
namespace {

[[noreturn]] void Fail(const std::string& path, int error) {
  throw ConfigError(path + ": cannot be written: " + std::strerror(error));
}

// The permissions of the file, or those that a new file gets.
mode_t ModeOf(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) == 0) return facts.st_mode & 07777;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A complete file with a temporary name. The destructor deletes that name.
class Temporary {
 public:
  Temporary(const std::string& path, const std::string& text)
      : path_((std::filesystem::path(path).parent_path() / ".pmuconf-new-XXXXXX").string()) {
    const int fd = mkstemp(path_.data());
    if (fd < 0) Fail(path, errno);
    std::size_t written = 0;
    int error = fchmod(fd, ModeOf(path)) == 0 ? 0 : errno;
    while (error == 0 && written < text.size()) {
      const ssize_t n = write(fd, text.data() + written, text.size() - written);
      if (n < 0) error = errno;
      if (n > 0) written += static_cast<std::size_t>(n);
    }
    if (close(fd) != 0 && error == 0) error = errno;
    if (error != 0) {
      unlink(path_.c_str());
      Fail(path, error);
    }
  }
  Temporary(Temporary&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  Temporary(const Temporary&) = delete;
  ~Temporary() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  // Gives the file its name. With `create`, another file of that name is an error.
  void Become(const std::string& path, bool create) const {
    const int done =
        create ? link(path_.c_str(), path.c_str()) : std::rename(path_.c_str(), path.c_str());
    if (done != 0) Fail(path, errno);
  }

 private:
  std::string path_;
};

}  // namespace

std::optional<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file.is_open() || file.bad()) return std::nullopt;
  return content.str();
}

void Write(const std::string& root, const std::vector<Change>& changes) {
  std::vector<Temporary> files;
  std::vector<std::optional<std::string>> before;
  for (const Change& change : changes) {
    const std::string path = root + "/" + change.path;
    before.push_back(change.create ? std::nullopt : ReadWhole(path));
    if (!change.create && !before.back()) Fail(path, ENOENT);
    files.emplace_back(path, change.text);
  }
  std::size_t done = 0;
  try {
    for (; done < changes.size(); ++done) {
      files[done].Become(root + "/" + changes[done].path, changes[done].create);
    }
  } catch (const ConfigError&) {
    while (done-- > 0) {
      const std::string path = root + "/" + changes[done].path;
      if (before[done]) {
        Temporary(path, *before[done]).Become(path, false);
      } else {
        unlink(path.c_str());
      }
    }
    throw;
  }
}

}  // namespace pmuconf::scaffold
