# SPDX-License-Identifier: Apache-2.0
# component(NAME LIBRARY...) makes the C++ files of this folder the library pmuconf_NAME. It uses the components LIBRARY...
# Includes start at the top folder or at conformance/, e.g. "oracle/open_model.h" and "perf/event.h".
function(component name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(pmuconf_${name} STATIC ${sources})
  target_include_directories(pmuconf_${name} PUBLIC "${CMAKE_SOURCE_DIR}"
    "${CMAKE_SOURCE_DIR}/conformance" "${CMAKE_SOURCE_DIR}/driver/include")
  target_link_libraries(pmuconf_${name} PUBLIC ${ARGN} PRIVATE pmuconf_warnings)
  # Parts of eight files keep both processors busy.
  set(part "")
  set(parts 0)
  foreach(source IN LISTS sources)
    list(APPEND part "${source}")
    list(LENGTH part files)
    if(files EQUAL 8)
      unite(pmuconf_${name} ${name}_${parts} ${part})
      math(EXPR parts "${parts} + 1")
      set(part "")
    endif()
  endforeach()
  if(part)
    unite(pmuconf_${name} ${name}_${parts} ${part})
  endif()
endfunction()

# unit_tests(NAME LIBRARY...) builds the tests *_test.cpp of this folder. They need no PMU and no root.
include(GoogleTest)
function(unit_tests name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp")
  add_executable(${name} ${sources})
  target_precompile_headers(${name} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  target_link_libraries(${name} PRIVATE ${ARGN} GTest::gmock_main pmuconf_warnings)
  target_compile_definitions(${name} PRIVATE
    PMUCONF_CONFORMANCE_DIR="${PROJECT_SOURCE_DIR}/conformance")
  gtest_discover_tests(${name} TEST_PREFIX ${name}. PROPERTIES TIMEOUT 60)
endfunction()
