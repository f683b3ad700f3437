#!/bin/sh
# Makes the environment in $VENV from requirements.lock. Needs only a Python >= 3.11: where uv is missing,
# it is installed into a small environment of its own, so the user's Python stays as it was.
set -eu
VENV=${VENV:-.venv}

find_python() {
    for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "Selfright needs Python 3.11 or newer and found none; install one, or name it: make PYTHON=/path/to/python3.11 ..." >&2
    exit 1
}

find_uv() {
    if command -v uv >/dev/null 2>&1; then
        echo uv
        return
    fi
    if [ ! -x .uv/bin/uv ]; then
        "$1" -m venv .uv >&2
        .uv/bin/python -m pip install --quiet --disable-pip-version-check uv >&2
    fi
    echo .uv/bin/uv
}

python=$(find_python)
uv=$(find_uv "$python")
[ -x "$VENV/bin/python" ] || "$uv" venv --quiet --python "$("$python" -c 'import sys; print(sys.executable)')" "$VENV"
# Compiled now, once: where Python may not write its caches, every start would compile everything again.
"$uv" pip sync --quiet --require-hashes --compile-bytecode --python "$VENV/bin/python" requirements.lock
"$uv" pip install --quiet --no-deps --python "$VENV/bin/python" --editable .
"$VENV/bin/python" -m compileall -q src
