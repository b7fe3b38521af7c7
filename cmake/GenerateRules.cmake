# SPDX-License-Identifier: Apache-2.0
# rules.h and rules.cpp from the catalogue; pmuconf_rules carries their folder as an include path.
find_program(PMUCONF_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
file(GLOB rule_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/rules/*.toml")
set(rules_dir "${CMAKE_CURRENT_BINARY_DIR}/generated")
set(rules_header "${rules_dir}/pmuconf/rules.h")
set(rules_source "${rules_dir}/pmuconf/rules.cpp")
add_custom_command(
  OUTPUT "${rules_dir}/rules.stamp"
  BYPRODUCTS "${rules_header}" "${rules_source}"
  COMMAND "${PMUCONF_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/rules/generate.py"
    --header "${rules_header}" --source "${rules_source}" ${rule_files}
  COMMAND "${CMAKE_COMMAND}" -E touch "${rules_dir}/rules.stamp"
  DEPENDS ${rule_files} "${CMAKE_CURRENT_SOURCE_DIR}/rules/generate.py"
  COMMENT "Generating rules.h"
  VERBATIM)
add_custom_target(pmuconf_rules_files DEPENDS "${rules_dir}/rules.stamp")
add_library(pmuconf_rules INTERFACE)
target_include_directories(pmuconf_rules INTERFACE "${rules_dir}")
add_dependencies(pmuconf_rules pmuconf_rules_files)
