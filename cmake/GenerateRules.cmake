# SPDX-License-Identifier: Apache-2.0
# Generates rules.cpp and a header per area from the catalogue. pmuconf_rules has their directory as an include path.
find_program(PMUCONF_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
file(GLOB rule_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/rules/*.toml")
# The newest series has a file there.
file(GLOB kernel_files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/vm/kernels/*.toml")
# The modules that read TOML files.
set(pmubase_modules "${CMAKE_SOURCE_DIR}/pmubase/__init__.py" "${CMAKE_SOURCE_DIR}/pmubase/errors.py"
  "${CMAKE_SOURCE_DIR}/pmubase/toml_file.py")
set(rules_dir "${CMAKE_CURRENT_BINARY_DIR}/generated")
set(rules_source "${rules_dir}/rules.cpp")
set(rules_headers "")
foreach(file IN LISTS rule_files)
  get_filename_component(area "${file}" NAME_WE)
  list(APPEND rules_headers "${rules_dir}/rules/${area}.h")
endforeach()
add_custom_command(
  OUTPUT "${rules_dir}/rules.stamp"
  BYPRODUCTS "${rules_source}" ${rules_headers}
  COMMAND "${PMUCONF_PYTHON}" -B -m conformance.rules.generate
    --out "${rules_dir}" ${rule_files}
  COMMAND "${CMAKE_COMMAND}" -E touch "${rules_dir}/rules.stamp"
  DEPENDS ${rule_files} ${kernel_files} ${pmubase_modules}
    "${CMAKE_CURRENT_SOURCE_DIR}/rules/generate.py"
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
  COMMENT "Generating the rules"
  VERBATIM)
add_custom_target(pmuconf_rules_files DEPENDS "${rules_dir}/rules.stamp")
add_library(pmuconf_rules INTERFACE)
target_include_directories(pmuconf_rules INTERFACE "${rules_dir}")
add_dependencies(pmuconf_rules pmuconf_rules_files)
