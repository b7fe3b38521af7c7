# SPDX-License-Identifier: Apache-2.0
# guest_program(NAME SOURCE...) adds a program for guests, which `ci/build guest` builds, and `ci/build guest pmuconf`
# does not. Builds without PMUCONF_STATIC compile its sources only for analysis.
if(PMUCONF_STATIC)
  set(PMUCONF_IN_ALL "")
else()
  set(PMUCONF_IN_ALL EXCLUDE_FROM_ALL)
endif()

function(guest_program name)
  add_executable(${name} ${PMUCONF_IN_ALL} ${ARGN})
  target_link_libraries(${name} PRIVATE pmuconf_warnings)
  link_static(${name})
endfunction()
