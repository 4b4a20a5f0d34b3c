#!/bin/sh
# An environment with verifiers for benchmarks/play.py, apart from the factory's own.
#   benchmarks/build_verifiers.sh [FOLDER]      default var/verifiers-env
set -eu
folder=${1:-var/verifiers-env}
python3.11 -m venv "$folder"
"$folder/bin/python" -m pip install -q --disable-pip-version-check "verifiers==0.4.0"
echo "$folder/bin/python has $("$folder/bin/python" -m pip list 2>/dev/null | grep -E '^verifiers ')"
