#!/usr/bin/env bash
# TBB's parallel_scan on the inputs of `scans`. Wants a C++ compiler and TBB (Debian: libtbb-dev).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -r "$place"' EXIT
c++ -O3 -std=c++17 "$here/scans_tbb.cpp" -o "$place/scans_tbb" -ltbb
"$place/scans_tbb"
