// SPDX-License-Identifier: Apache-2.0
#include "tcg/page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace pmuconf::work {

std::string Page::Open(const Options& options, unsigned blocks) {
  const auto failure = [&options] { return options.page + ": " + std::strerror(errno); };
  const int file = open(options.page.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return failure();
  struct stat status = {};
  void* mapped = MAP_FAILED;
  if (fstat(file, &status) == 0 &&
      (status.st_size >= static_cast<off_t>(kPageBytes) || ftruncate(file, kPageBytes) == 0)) {
    mapped = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  std::string message = mapped == MAP_FAILED ? failure() : "";
  close(file);
  if (!message.empty()) return message;
  words_ = static_cast<std::uint64_t*>(mapped);
  std::fill_n(words_, kPageBytes / sizeof(std::uint64_t), 0);
  words_[REFPMU_WORK_WORD_EVENTS] = options.events;
  words_[REFPMU_WORK_WORD_CPUS] = blocks;
  words_[REFPMU_WORK_WORD_ICOUNT] = options.icount ? 1 + *options.icount : 0;
  std::atomic_ref(words_[REFPMU_WORK_WORD_MAGIC])
      .store(REFPMU_WORK_MAGIC, std::memory_order_release);
  return "";
}

}  // namespace pmuconf::work
