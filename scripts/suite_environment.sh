#!/usr/bin/env bash
# Make the environment of a benchmark's package, apart from the factory's own: benchmarks pin what they need.
#
#   scripts/suite_environment.sh reasoning-gym|bfcl-eval|textarena [FOLDER]
#
# FOLDER is where environments lie: ~/.local/share/spade/suites unless the setting evaluation.environments says otherwise.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
package=${1:?name a package: reasoning-gym, bfcl-eval or textarena}
folder=${2:-$HOME/.local/share/spade/suites}/$package
wanted=$here/suites/$package.txt
python=${PYTHON:-python3.11}

if [ ! -f "$wanted" ]; then
  echo "There is no suite package $package: reasoning-gym, bfcl-eval or textarena." >&2
  exit 2
fi
"$python" -m venv --clear "$folder"
declared=()
[ "$package" != bfcl-eval ] || declared=(--no-deps)
"$folder/bin/python" -m pip --disable-pip-version-check -q install "${declared[@]}" -r "$wanted"
"$folder/bin/python" -c "from importlib.metadata import version; print('$package', version('$package'), 'in $folder')"
