// SPDX-License-Identifier: Apache-2.0
// Errno names.
#ifndef PMUCONF_LIB_ERRNO_NAME_H_
#define PMUCONF_LIB_ERRNO_NAME_H_

#include <optional>
#include <string>
#include <string_view>

namespace pmuconf {

std::string ErrnoName(int error);  // NOLINT(readability-redundant-declaration): matchers.h has it
std::optional<int> ErrnoFromName(std::string_view name);

}  // namespace pmuconf

#endif  // PMUCONF_LIB_ERRNO_NAME_H_
