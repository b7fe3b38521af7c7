# SPDX-License-Identifier: Apache-2.0
# The KUnit suites: in make check on the first kernel, in make nightly on all.
foreach(kernel ${KUNIT_KERNELS} ${DEBUG_KERNELS})
  string(REPLACE "-debug" ";--debug" words ${kernel})
  set(more TIMEOUT 10800 COST 600)
  if(kernel STREQUAL KERNEL)
    set(more CHECK TIMEOUT 2400 COST 100)
  endif()
  pmuconf_test(kunit/${kernel} ${more} CORES 2 REPORTS kunit-${kernel}/results.json
    COMMAND ${PYTHON} -m kunit.pmukunit --out ${OUT}/kunit-${kernel} --kernel ${words})
endforeach()
