#!/bin/sh
# Builds the environment that benchmarks/sandbox.py measures OpenEnv in: var/openenv-env.
set -eu
cd "$(dirname "$0")/.."
python3 -m venv var/openenv-env
var/openenv-env/bin/python -m pip install --quiet --disable-pip-version-check "openenv==0.10.0"
