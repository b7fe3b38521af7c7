// SPDX-License-Identifier: Apache-2.0
// Errno names.
#ifndef PMUCONF_TEXT_ERRNO_NAME_H_
#define PMUCONF_TEXT_ERRNO_NAME_H_

#include <optional>
#include <string>
#include <string_view>

namespace pmuconf {

std::string ErrnoName(int error);  // "EINVAL"; "errno 999" if it has no name
std::optional<int> ErrnoFromName(std::string_view name);

}  // namespace pmuconf

#endif  // PMUCONF_TEXT_ERRNO_NAME_H_
