#!/usr/bin/env bash
# Empty stages of TBB's parallel_pipeline beside those of `streams`. Wants a C++ compiler and TBB (Debian: libtbb-dev).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -r "$place"' EXIT
c++ -O3 -std=c++17 "$here/streams_tbb.cpp" -o "$place/streams_tbb" -ltbb
"$place/streams_tbb"
