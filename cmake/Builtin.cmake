# SPDX-License-Identifier: Apache-2.0
# Generates builtin.cpp: targets, profiles, waivers, renamed cases, and the tests outside the suite with the rules
# that they verify.
file(GLOB_RECURSE builtin_files CONFIGURE_DEPENDS
  "${CMAKE_SOURCE_DIR}/conformance/targets/*.toml"
  "${CMAKE_SOURCE_DIR}/conformance/profiles/*.toml"
  "${CMAKE_SOURCE_DIR}/conformance/waivers/*.toml"
  "${CMAKE_SOURCE_DIR}/conformance/untested.toml"
  "${CMAKE_SOURCE_DIR}/conformance/renamed.toml"
  "${CMAKE_SOURCE_DIR}/kunit/*.c"
  "${CMAKE_SOURCE_DIR}/conformance/selftest/*_test.py"
  "${CMAKE_SOURCE_DIR}/driver/tests/*_test.py"
  "${CMAKE_SOURCE_DIR}/oracle/*_test.py"
  "${CMAKE_SOURCE_DIR}/tools/*_test.py"
  "${CMAKE_SOURCE_DIR}/vm/*_test.py"
  "${CMAKE_SOURCE_DIR}/fuzz/*_test.py")
set(builtin_source "${CMAKE_CURRENT_BINARY_DIR}/generated/builtin.cpp")
add_custom_command(
  OUTPUT "${builtin_source}"
  COMMAND "${PMUCONF_PYTHON}" -B "${CMAKE_SOURCE_DIR}/conformance/rules/builtin.py"
    --root "${CMAKE_SOURCE_DIR}" --out "${builtin_source}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${builtin_source}"
  DEPENDS ${builtin_files}
    "${CMAKE_SOURCE_DIR}/conformance/rules/builtin.py"
    "${CMAKE_SOURCE_DIR}/conformance/rules/evidence.py"
    "${CMAKE_SOURCE_DIR}/conformance/rules/generate.py"
    "${CMAKE_SOURCE_DIR}/conformance/rules/renamed.py"
  COMMENT "Packing targets, profiles and waivers"
  VERBATIM)
