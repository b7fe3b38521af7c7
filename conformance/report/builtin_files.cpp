// SPDX-License-Identifier: Apache-2.0
// Finds built-in files.
#include <algorithm>

#include "report/builtin.h"

namespace pmuconf {

const BuiltinFile* FindBuiltin(std::string_view folder, std::string_view name) {
  const auto files = BuiltinFiles();
  const auto it = std::find_if(files.begin(), files.end(), [&](const BuiltinFile& file) {
    return file.folder == folder && file.name == name;
  });
  return it == files.end() ? nullptr : &*it;
}

}  // namespace pmuconf
