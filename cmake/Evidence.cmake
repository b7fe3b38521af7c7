# SPDX-License-Identifier: Apache-2.0
# Generates evidence.json next to `pmuconf`: the tests outside the suite with the rules that they verify, the faults and
# the findings, for `pmuconf explain`.
file(GLOB_RECURSE evidence_sources CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/untested.toml"
  "${CMAKE_CURRENT_SOURCE_DIR}/rules/*.toml"
  "${CMAKE_SOURCE_DIR}/docs/findings.md"
  "${CMAKE_SOURCE_DIR}/faults/*.patch"
  "${CMAKE_SOURCE_DIR}/faults/*.toml"
  "${CMAKE_SOURCE_DIR}/kunit/*.c"
  "${CMAKE_SOURCE_DIR}/conformance/selftest/*_test.py"
  "${CMAKE_SOURCE_DIR}/driver/tests/*_test.py"
  "${CMAKE_SOURCE_DIR}/oracle/*_test.py"
  "${CMAKE_SOURCE_DIR}/tools/*_test.py"
  "${CMAKE_SOURCE_DIR}/vm/*_test.py"
  "${CMAKE_SOURCE_DIR}/fuzz/*_test.py")
file(GLOB fault_modules CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/faults/*.py")
set(evidence_file "${CMAKE_CURRENT_BINARY_DIR}/evidence.json")
cmake_path(GET CMAKE_BINARY_DIR PARENT_PATH results_folder)
add_custom_command(
  OUTPUT "${evidence_file}"
  COMMAND "${PMUCONF_PYTHON}" -B -m faults.evidence_file
    --root "${CMAKE_SOURCE_DIR}" --out "${evidence_file}" --results "${results_folder}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${evidence_file}"
  DEPENDS ${evidence_sources} ${pmubase_modules}
    "${CMAKE_SOURCE_DIR}/pmubase/store.py"
    "${CMAKE_CURRENT_SOURCE_DIR}/rules/evidence.py"
    "${CMAKE_CURRENT_SOURCE_DIR}/rules/findings.py"
    "${CMAKE_CURRENT_SOURCE_DIR}/rules/generate.py"
    ${fault_modules}
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
  COMMENT "Listing the evidence for each rule"
  VERBATIM)
add_custom_target(pmuconf_evidence DEPENDS "${evidence_file}")
