// SPDX-License-Identifier: Apache-2.0
// The work page: driver/include/uapi/refpmu_work.h describes it.
#ifndef PMUCONF_VM_TCG_PAGE_H_
#define PMUCONF_VM_TCG_PAGE_H_

#include <cstdint>
#include <string>

#include "tcg/options.h"
#include "uapi/refpmu_work.h"

namespace pmuconf::work {

inline constexpr std::uint64_t kPageBytes = 16384;  // a power of two, as a BAR must be
static_assert(REFPMU_WORK_WORDS * sizeof(std::uint64_t) <= kPageBytes);

class Page {
 public:
  // Creates or clears the file, and writes the header. Returns the message of a failure, or "".
  std::string Open(const Options& options, unsigned blocks);

  std::uint64_t* Word(unsigned block, unsigned event, unsigned privilege) const {
    return words_ + (1 + block) * REFPMU_WORK_BLOCK + REFPMU_WORK_WORD(event, privilege);
  }

 private:
  std::uint64_t* words_ = nullptr;
};

}  // namespace pmuconf::work

#endif  // PMUCONF_VM_TCG_PAGE_H_
