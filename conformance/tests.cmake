# SPDX-License-Identifier: Apache-2.0
# The targets on kernels.

# ci.judge remembers each source of cases by itself.
foreach(job IN LISTS CHECKED_JOBS)
  string(REGEX MATCH "^(.*)-([0-9.]+)$" _ ${job})
  pmuconf_test(run/${job} CHECK NEEDS guest module-${CMAKE_MATCH_2} COST 150 TIMEOUT 900 UNTRACED .
    REPORTS ${job}/results.json
    COMMAND ${PYTHON} -m ci.judge --target ${CMAKE_MATCH_1} --kernel ${CMAKE_MATCH_2} --out ${OUT}/${job})
endforeach()
# No verdict depends on the compiler or on its options.
foreach(preset O0 O3 clang lto)
  foreach(job IN LISTS CHECKED_JOBS)
    string(REGEX MATCH "^(.*)-([0-9.]+)$" _ ${job})
    pmuconf_test(run/${job}-${preset} NEEDS guest ${preset} module-${CMAKE_MATCH_2} COST 150 CORES 2 UNTRACED .
      REPORTS ${job}-${preset}/results.json
      COMMAND ${CMAKE_COMMAND} -E env PMUCONF_BINARY=build/${preset}/conformance/pmuconf
        ${PYTHON} -m vm run --target ${CMAKE_MATCH_1} --kernel ${CMAKE_MATCH_2} --out ${OUT}/${job}-${preset})
  endforeach()
endforeach()
foreach(kernel IN LISTS DEBUG_KERNELS)
  foreach(target IN LISTS CHECKED_TARGETS)
    set(name ${target}-${kernel})
    pmuconf_test(run/${name} NEEDS guest COST 1200 TIMEOUT 10800 UNTRACED . REPORTS run+${name}/results.json
      COMMAND ${PYTHON} -m vm run --target ${target} --kernel ${kernel} --out ${OUT}/run+${name})
  endforeach()
endforeach()
foreach(kernel IN LISTS KERNELS)
  foreach(round RANGE 1 8)
    pmuconf_test(soak/${kernel}-${round}of8 NEEDS ${GUESTS} COST 500 CORES 2 TIMEOUT 7200 UNTRACED . LOCK soak
      COMMAND ${PYTHON} -m ci.soak -n 1 --seed ${round} --kernel ${kernel})
  endforeach()
endforeach()
