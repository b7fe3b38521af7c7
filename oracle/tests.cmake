# SPDX-License-Identifier: Apache-2.0
# Compares each kernel's errnos with the model: 100,000 calls of each kind in five parts. Compares each kernel with the
# executable specification, by random programs.
foreach(kernel IN LISTS KERNELS)
  foreach(part RANGE 1 5)
    math(EXPR first "(${part} - 1) * 20000")
    pmuconf_test(oracle/${kernel}-calls-${part}of5 NEEDS ${GUESTS} COST 900 CORES 2 TIMEOUT 7200 UNTRACED .
      LOCK oracle-${kernel} COMMAND ${PYTHON} -m ci.oracle --kernel ${kernel} --calls 20000 --from ${first})
  endforeach()
  # The programs of make check come first, so these begin behind them.
  foreach(part RANGE 1 4)
    math(EXPR first "${part} * 1000000")
    pmuconf_test(specify/${kernel}-${part}of4 NEEDS ${GUESTS} COST 600 CORES 2 TIMEOUT 7200 UNTRACED .
      LOCK specify-${kernel} COMMAND ${PYTHON} -m ci.specify --kernel ${kernel} --seconds 120 --from ${first})
  endforeach()
endforeach()
