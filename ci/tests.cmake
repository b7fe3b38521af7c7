# SPDX-License-Identifier: Apache-2.0
# Builds, lint, and all Python tests.

foreach(preset guest asan fuzz:fuzzers dev coverage:driver_tests O0 O3 clang lto
    tidy:pmuconf_rules_files:pmuconf_bpf_files:profile_bpf_files:watch_bpf_files)
  string(REPLACE ":" ";" words ${preset})
  list(GET words 0 name)
  pmuconf_build(${name} COMMAND ci/build ${words} CORES 2 COST 300)
endforeach()
foreach(kernel IN LISTS KERNELS)
  pmuconf_build(kernel-${kernel} COMMAND ${PYTHON} -m vm fetch --kernel ${kernel} CORES 1 COST 10)
  pmuconf_build(module-${kernel} COMMAND ${PYTHON} -m vm module --kernel ${kernel}
    NEEDS kernel-${kernel} CORES 1 COST 30)
endforeach()
pmuconf_build(axe COMMAND ${PYTHON} -m ci.npm results/browser CORES 1 COST 1)

foreach(step IN LISTS LINT_STEPS)
  set(more COST 5)
  if(step MATCHES "^(kernel-.*|checkpatch|sources)$")
    set(more COST 100)
  endif()
  if(step MATCHES "^kernel-")
    list(APPEND more NEEDS ${step})
  endif()
  pmuconf_test(lint/${step} CHECK COMMAND ${PYTHON} -m ci.lint ${step} ${more})
endforeach()

# ci.checks.tidy traces clang-tidy, and remembers each source by itself.
foreach(kind_parts tidy:4:CHECK analyzer:16)
  string(REPLACE ":" ";" words ${kind_parts})
  list(POP_FRONT words kind parts)
  foreach(part RANGE 1 ${parts})
    pmuconf_test(${kind}/${part}of${parts} ${words} NEEDS tidy fuzz COST 200 TIMEOUT 7200 UNTRACED .
      COMMAND ${PYTHON} -m ci.checks.tidy --kind ${kind} --part ${part}/${parts})
  endforeach()
endforeach()

# A file is a test of make check, of make nightly, or of both: by its marks. Its lines `# untraced: PATH ...` list what
# it reads, if it does not run under a tracer.
set(sources)
foreach(component ci conformance driver fuzz kunit oracle pmubase results review tools vm)
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${component}/*_test.py)
  list(APPEND sources ${found})
endforeach()
foreach(file IN LISTS sources)
  file(READ ${ROOT}/${file} text)
  set(more COST 5)
  if(text MATCHES "mark\\.guest")
    set(more COST 40)
  endif()
  string(REGEX MATCHALL "\n# untraced: [^\n]+" untraced "${text}")
  if(untraced)
    string(REGEX REPLACE ";?\n# untraced: " ";" paths "${untraced}")
    string(REPLACE " " ";" paths "${paths}")
    list(APPEND more UNTRACED conftest.py pyproject.toml ${paths})
  endif()
  set(needs ${GUESTS})
  if(file MATCHES "^fuzz/")
    list(APPEND needs fuzz)
  elseif(file MATCHES "^results/")
    list(APPEND needs axe)
  endif()
  string(REPLACE "/" "+" report ${file})
  if(NOT text MATCHES "\npytestmark = [^\n[]*nightly" AND NOT text MATCHES "\npytestmark = \\[[^]]*nightly[^]]*\\]")
    pmuconf_test(pytest/${file} CHECK NEEDS ${needs} ${more} REPORTS pytest+${report}.xml
      COMMAND ${PYTHON} -m pytest -q -m "not nightly" ${file} --junitxml=${OUT}/pytest+${report}.xml)
  endif()
  if(text MATCHES "[^A-Za-z0-9_]nightly(_params)?[^A-Za-z0-9_]")
    pmuconf_test(pytest-nightly/${file} NEEDS ${needs} ${more} REPORTS pytest-nightly+${report}.xml TIMEOUT 7200
      COMMAND ${PYTHON} -m pytest -q -m nightly ${file} --junitxml=${OUT}/pytest-nightly+${report}.xml)
  endif()
endforeach()

# Each release of the distribution, as a new user has it. A release with an older or newer compiler judges with it, too.
foreach(release_words bookworm:run:run trixie:run:run testing:run:run bookworm:check:check trixie:check:check
    testing:unit:check:STAGES=unit "trixie:builds:nightly:STAGES=run/.*-(O0|clang)")
  string(REPLACE ":" ";" words ${release_words})
  list(POP_FRONT words release name)
  pmuconf_test(chroot/${release}-${name} COST 1000 CORES 2 TIMEOUT 14400 UNTRACED . LOCK chroot-${release}
    COMMAND ${CMAKE_COMMAND} -E env LIMIT_S=14000 ci/chroot ${release} make ${words})
endforeach()
