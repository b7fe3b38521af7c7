# SPDX-License-Identifier: Apache-2.0
# The proof that the tests can fail. ci/faults remembers each fault by itself.

# pmuconf_faults(NAME KERNEL words ... [CHECK] [COST n]): some of the faults on a kernel.
function(pmuconf_faults name kernel)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CHECK" "COST" "")
  set(check)
  if(arg_CHECK)
    set(check CHECK)
  endif()
  set(out faults-${name})
  pmuconf_test(faults/${name} ${check} NEEDS ${GUESTS} COST ${arg_COST} CORES 2 TIMEOUT 7200 UNTRACED . LOCK faults
    REPORTS ${out}/results.json ${out}/rules.json
    COMMAND ${PYTHON} -m ci.faults --kernel ${kernel} ${arg_UNPARSED_ARGUMENTS} --out ${OUT}/${out})
endfunction()

# A fixed sample of the faults in the driver, one in twelve.
pmuconf_faults(sample ${KERNEL} CHECK COST 180
  --kind driver --observer unit --observer suite --part 1/12)
foreach(kernel IN LISTS KERNELS)
  set(check)
  if(kernel STREQUAL KERNEL)
    set(check CHECK)
  endif()
  pmuconf_faults(answers-${kernel} ${kernel} ${check} COST 180 --kind answer)
endforeach()
foreach(kernel ${KERNELS} ${DEBUG_KERNELS})
  foreach(part RANGE 1 16)
    pmuconf_faults(driver-${kernel}-${part}of16 ${kernel} COST 300 --kind driver --kind suite --rules
      --observer unit --observer fuzz --observer kunit --observer suite --part ${part}/16)
  endforeach()
endforeach()
foreach(part RANGE 1 4)
  pmuconf_faults(devices-${part}of4 ${KERNEL} COST 1200 --kind device --own --rules --part ${part}/4)
endforeach()
foreach(kernel IN LISTS FAULT_KERNELS)
  foreach(part RANGE 1 12)
    pmuconf_faults(kernel-${kernel}-${part}of12 ${kernel} COST 1500 --kind kernel --part ${part}/12)
  endforeach()
endforeach()
