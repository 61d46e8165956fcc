#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets as OSS-Fuzz asks (google.github.io/oss-fuzz): with $CC, $CFLAGS and $LIB_FUZZING_ENGINE into $OUT, each with
# its seeds and its dictionary. It reaches nothing outside the machine. The image needs the packages of "build" and libcmocka-dev
# (tools/install-packages).
#
# By hand: OUT=/tmp/out tools/oss-fuzz/build.sh
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
: "${OUT:?the folder for the fuzzers}"
work=${WORK:-$(mktemp -d)}/softib-fuzz
export CC=${CC:-clang} CFLAGS=${CFLAGS:--O1 -g -fsanitize=address,fuzzer-no-link}
engine=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
# An engine that is a library is C++.
case $engine in
-*) ;;
*) case ${CXXFLAGS:-} in *libc++*) engine="$engine,-lc++" ;; *) engine="$engine,-lstdc++" ;; esac ;;
esac

# The machines that run the fuzzers do not have our libraries, so copies of these lie beside the fuzzers.
[ -e "$work/build.ninja" ] || LDFLAGS="${LDFLAGS:-} $CFLAGS -Wl,-rpath,\$ORIGIN/lib" meson setup "$work" "$source" -Dbuildtype=plain \
	-Dwerror=false -Dprofile=false -Db_lundef=false -Dfuzz=true "-Dfuzz_engine=$engine"
ninja -C "$work" fuzzers
mkdir -p "$OUT/lib"
python3 "$source/tools/fuzz_inputs" "$work/inputs"
for fuzzer in "$work"/tests/fuzz/*_fuzz; do
	target=$(basename "$fuzzer" _fuzz)
	cp "$fuzzer" "$OUT/"
	cp "$work/inputs/$target.dict" "$OUT/${target}_fuzz.dict"
	(cd "$work/inputs/seeds/$target" && rm -f "$OUT/${target}_fuzz_seed_corpus.zip" && if [ -n "$(ls)" ]; then python3 -m zipfile -c "$OUT/${target}_fuzz_seed_corpus.zip" ./*; fi)
	ldd "$fuzzer" | awk '$3 ~ /lib(jansson|cmocka|microhttpd|gnutls|p11-kit|idn2|unistring|tasn1|nettle|hogweed|gmp|ffi|z)\.so/ { print $3 }'
done | sort -u | xargs -r cp -t "$OUT/lib"
