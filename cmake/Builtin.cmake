# SPDX-License-Identifier: Apache-2.0
# Generates builtin.cpp: targets, profiles, waivers and the reasons of untested rules.
file(GLOB_RECURSE builtin_files CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/conformance/targets/*.toml"
  "${CMAKE_SOURCE_DIR}/conformance/profiles/*.toml"
  "${CMAKE_SOURCE_DIR}/conformance/waivers/*.toml"
  "${CMAKE_SOURCE_DIR}/conformance/untested.toml")
set(builtin_source "${CMAKE_CURRENT_BINARY_DIR}/generated/builtin.cpp")
add_custom_command(
  OUTPUT "${builtin_source}"
  COMMAND "${PMUCONF_PYTHON}" -B -m conformance.rules.builtin
    --root "${CMAKE_SOURCE_DIR}" --out "${builtin_source}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${builtin_source}"
  DEPENDS ${builtin_files} ${pmubase_modules}
    "${CMAKE_SOURCE_DIR}/conformance/rules/builtin.py"
    "${CMAKE_SOURCE_DIR}/conformance/rules/evidence.py"
    "${CMAKE_SOURCE_DIR}/conformance/rules/generate.py"
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
  COMMENT "Packing targets, profiles and waivers"
  VERBATIM)
