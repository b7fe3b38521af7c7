# SPDX-License-Identifier: Apache-2.0
# Generates builtin.cpp: targets, profiles, waivers and renamed cases.
file(GLOB_RECURSE builtin_files CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/targets/*.toml"
  "${CMAKE_CURRENT_SOURCE_DIR}/profiles/*.toml"
  "${CMAKE_CURRENT_SOURCE_DIR}/waivers/*.toml"
  "${CMAKE_CURRENT_SOURCE_DIR}/renamed.toml")
set(builtin_source "${CMAKE_CURRENT_BINARY_DIR}/generated/builtin.cpp")
add_custom_command(
  OUTPUT "${builtin_source}"
  COMMAND "${PMUCONF_PYTHON}" -B -m conformance.rules.builtin
    --root "${CMAKE_SOURCE_DIR}" --out "${builtin_source}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${builtin_source}"
  DEPENDS ${builtin_files}
    "${CMAKE_CURRENT_SOURCE_DIR}/rules/builtin.py"
    "${CMAKE_CURRENT_SOURCE_DIR}/rules/generate.py"
    "${CMAKE_CURRENT_SOURCE_DIR}/rules/renamed.py"
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
  COMMENT "Packing targets, profiles and waivers"
  VERBATIM)
