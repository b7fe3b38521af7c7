# SPDX-License-Identifier: Apache-2.0
# The fuzzers: make check replays the corpora, make nightly fuzzes. LeakSanitizer does not work under a tracer.
unit_tests(fuzz tools/fuzz/tests/fuzz_tests 1)
list(LENGTH FUZZ_SUBJECTS count)
math(EXPR seconds "7200 / ${count}")
math(EXPR limit "${seconds} + 3600")
foreach(subject IN LISTS FUZZ_SUBJECTS)
  set(program build/fuzz/fuzz/${subject}_fuzzer)
  pmuconf_test(fuzz/${subject} CHECK NEEDS fuzz COST 4 TIMEOUT 300
    UNTRACED ${program} fuzz/corpora.py fuzz/corpus/${subject}.zip fuzz/corpus/${subject} pmubase
    COMMAND ${PYTHON} -m fuzz.corpora replay ${subject} ${program})
  pmuconf_test(fuzz/${subject}-${seconds}s NEEDS fuzz COST ${seconds} TIMEOUT ${limit} UNTRACED .
    COMMAND ${PYTHON} -m fuzz.run --harness ${subject} --time ${seconds})
endforeach()
foreach(target refpmu software)
  foreach(part RANGE 1 6)
    pmuconf_test(fuzz-vm/${target}-${part}of6 NEEDS guest COST 600 TIMEOUT 7200 UNTRACED . LOCK fuzz-vm-${target}
      COMMAND ${PYTHON} -m fuzz.campaign --kernel 6.12-kcov --target ${target} --time 600)
  endforeach()
endforeach()
