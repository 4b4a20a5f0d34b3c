#!/bin/sh
# An environment with TRL for benchmarks/update.py, apart from the factory's own.
#   benchmarks/build_trl.sh [FOLDER]      default var/trl-env
set -e
folder=${1:-var/trl-env}
python3.11 -m venv "$folder"
"$folder/bin/python" -m pip install -q --disable-pip-version-check \
    torch==2.13.0 transformers==5.24.0 trl==1.16.0 accelerate==1.15.0 datasets==5.2.0 peft==0.21.2 pyarrow==26.0.1
echo "$folder/bin/python has $("$folder/bin/python" -m pip list 2>/dev/null | grep -E '^trl ' )"
