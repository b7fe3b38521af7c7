// SPDX-License-Identifier: Apache-2.0
#include "stimulus/branch_code.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <set>

#include "perf/ring.h"
#include "system/broken.h"

namespace pmuconf {
namespace {

// A driver decodes the kind of the instruction but not its target. A call with a distance of 0 is
// an exception, because drivers do not record it as a call.
std::vector<std::uint8_t> Instruction(BranchKind kind) {
  switch (kind) {
    case BranchKind::kConditional:
      return {0x74, 6};  // je
    case BranchKind::kCall:
      return {0xe8, 3, 0, 0, 0};
    case BranchKind::kIndirectCall:
      return {0xff, 0xd0};  // call *%rax
    case BranchKind::kReturn:
      return {0xc3};
    case BranchKind::kIndirectJump:
      return {0xff, 0xe0};  // jmp *%rax
    case BranchKind::kJump:
      return {0xeb, 6};
    case BranchKind::kFar:
      return {0x0f, 0x05};  // syscall
  }
  throw Broken("a branch of no kind");
}

// Maps the page if this function has not mapped it before. Fails if something else is mapped there.
void Map(std::uint64_t page) {
  static std::set<std::uint64_t> mapped;  // stays mapped
  if (!mapped.insert(page).second) return;
  auto* const wanted = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr)
  void* const got = mmap(wanted, PageSize(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted)
    throw BrokenErrno("memory for instructions", got == MAP_FAILED ? errno : EEXIST);
}

void Place(const Branch& branch) {
  const std::vector<std::uint8_t> bytes = Instruction(branch.kind);
  const std::uint64_t mask = ~(std::uint64_t{PageSize()} - 1);
  Map(branch.from & mask);
  Map((branch.from + bytes.size() - 1) & mask);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(branch.from));
}

}  // namespace

void RunBranches(const Port& port, const std::vector<Branch>& branches) {
  for (const Branch& branch : branches) {
    const bool is_user = static_cast<std::int64_t>(branch.from) > 0;
    if (is_user) Place(branch);
  }
  port.Branches(branches);
}

}  // namespace pmuconf
