# SPDX-License-Identifier: Apache-2.0
# The unit tests of all C++ programs, and the coverage of the driver.

# unit_tests(NAME PROGRAM SHARDS PATH...): a program of unit tests, with sanitizers in make check, and without in make
# nightly. LeakSanitizer does not work under a tracer; the program reads itself and the PATHs.
function(unit_tests name program shards)
  foreach(preset asan dev)
    set(path build/${preset}/${program})
    foreach(shard RANGE 1 ${shards})
      set(label unit/${name})
      set(more CHECK)
      if(preset STREQUAL dev)
        string(APPEND label -dev)
        set(more)
      endif()
      if(shards GREATER 1)
        string(APPEND label -${shard}of${shards})
      endif()
      math(EXPR index "${shard} - 1")
      pmuconf_test(${label} ${more} NEEDS ${preset} UNTRACED ${path} ${ARGN} COST 45 TIMEOUT 900
        COMMAND env GTEST_TOTAL_SHARDS=${shards} GTEST_SHARD_INDEX=${index} ${path} --gtest_brief=1)
      set_tests_properties(${label} PROPERTIES FAIL_REGULAR_EXPRESSION "0 tests from 0 test suites")
    endforeach()
  endforeach()
endfunction()

unit_tests(driver driver/unit/driver_tests 3)
unit_tests(conformance conformance/selftest/conformance_selftest 1 conformance)
unit_tests(oracle oracle/tests/oracle_tests 1)
unit_tests(profile tools/profile/tests/profile_tests 1)
unit_tests(repro tools/repro/tests/repro_tests 1)
unit_tests(specification oracle/spec/tests/specification_tests 1)
unit_tests(specify tools/specify/tests/specify_tests 1)
unit_tests(watch tools/watch/tests/watch_tests 1)
unit_tests(work vm/tcg/tests/work_tests 1)

pmuconf_test(coverage/driver UNTRACED . NEEDS coverage COST 40 TIMEOUT 7200 COMMAND ${PYTHON} -m ci.coverage)
pmuconf_test(lines/driver UNTRACED . NEEDS guest COST 900 CORES 2 TIMEOUT 7200 COMMAND ${PYTHON} -m ci.lines)
