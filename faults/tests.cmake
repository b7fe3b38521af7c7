# SPDX-License-Identifier: Apache-2.0
# The proof that the tests can fail: mutants, regressions and lies. The programs remember each fault by themselves.

# A fixed sample of the mutants, one in twelve.
pmuconf_test(mutants/sample CHECK NEEDS guest module-${KERNEL} COST 180 CORES 2 TIMEOUT 7200 UNTRACED . LOCK mutants
  REPORTS mutants-sample/results.json mutants-sample/rules.json
  COMMAND ${PYTHON} -m ci.mutants --observer unit --observer suite --part 1/12 --out ${OUT}/mutants-sample)
foreach(kernel ${KERNELS} ${DEBUG_KERNELS})
  foreach(part RANGE 1 16)
    set(name ${kernel}-${part}of16)
    pmuconf_test(mutants/${name} NEEDS ${GUESTS} COST 300 CORES 2 TIMEOUT 7200 UNTRACED . LOCK mutants
      REPORTS mutants-${name}/results.json mutants-${name}/rules.json
      COMMAND ${PYTHON} -m ci.mutants --kernel ${kernel} --rules --part ${part}/16 --out ${OUT}/mutants-${name})
  endforeach()
endforeach()
foreach(kernel IN LISTS REGRESSION_KERNELS)
  foreach(part RANGE 1 12)
    set(name ${kernel}-${part}of12)
    pmuconf_test(regressions/${name} NEEDS guest COST 1500 CORES 2 TIMEOUT 10800 UNTRACED . LOCK regressions
      REPORTS regressions+${name}/results.json
      COMMAND ${PYTHON} -m ci.regressions --kernel ${kernel} --part ${part}/12 --out ${OUT}/regressions+${name})
  endforeach()
endforeach()
foreach(kernel IN LISTS KERNELS)
  set(more)
  if(kernel STREQUAL KERNEL)
    set(more CHECK)
  endif()
  pmuconf_test(lies/${kernel} ${more} NEEDS guest module-${kernel} COST 300 TIMEOUT 3600
    REPORTS lies-${kernel}/results.json
    COMMAND ${PYTHON} -m ci.lies --kernel ${kernel} --out ${OUT}/lies-${kernel})
endforeach()
