#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the harnesses as a continuous fuzzing service does: fuzz/build.sh [SUBJECT ...]. Variables of the service:
#
# - CC CXX CFLAGS CXXFLAGS: compilers and sanitizers with their flags (clang, ASan and UBSan)
# - LIB_FUZZING_ENGINE: library or flag that a harness is linked with (-fsanitize=fuzzer)
# - WORK: build folder (build/fuzz-service)
# - OUT: output folder of the harnesses, their seed corpora, dictionaries and options
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${OUT:-}" ]; then
  echo "fuzz/build.sh: OUT is not set: it must name the output folder of the harnesses" >&2
  exit 2
fi
work=${WORK:-$root/build/fuzz-service}
if [ -z "${CC:-}${CXX:-}" ]; then
  sanitize='-g -O2 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
  CC=clang CXX=clang++
  CFLAGS="$sanitize ${CFLAGS:-}" CXXFLAGS="$sanitize ${CXXFLAGS:-}"
fi
export CC CXX CFLAGS CXXFLAGS

# The service sets the flags, with its compiler's warnings, which are no errors there.
cmake -S "$root" -B "$work/pmuconf" -G Ninja -DCMAKE_BUILD_TYPE=None -DPMUCONF_FUZZ=ON \
  -DPMUCONF_WARNINGS_ARE_ERRORS=OFF -DPMUCONF_FUZZING_ENGINE="${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}" >&2
targets=(fuzzers)
[ $# -eq 0 ] || targets=("${@/%/_fuzzer}")
cmake --build "$work/pmuconf" --target "${targets[@]}" >&2
built=$(cd "$work/pmuconf/fuzz" && pwd)
mkdir -p "$OUT"
out=$(cd "$OUT" && pwd)
cd "$root" && exec /usr/bin/python3 -B -m fuzz.pack "$built" "$out" "$@"
