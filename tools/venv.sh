#!/bin/sh
# Makes .venv, or brings it up to date. Called by make with VENV, PYTHON, TORCH and TORCH_INDEX.
#
# A change of interpreter, of TORCH or of the checkout's place makes it anew; a change of
# pyproject.toml or of the pins updates it in place.
set -eu

venv=${VENV:-.venv}
constraints=constraints/cpu.txt

fail() {
    printf 'make: %s\n' "$@" >&2
    exit 2
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
        if new_enough "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer is needed, and none of python3, python3.11 … python3.14 is." \
        "Install one, or name it: make run PYTHON=/path/to/python3.12"
}

make_empty() {
    "$python" -c 'import venv, ensurepip' >/dev/null 2>&1 || fail \
        "$python cannot make virtual environments: its venv or ensurepip module is missing." \
        "On Debian or Ubuntu: apt install python3-venv. Elsewhere: install a full Python."
    "$python" -m venv --clear "$venv" || fail \
        "$python could not make $venv (see above). Is there space, and may you write here?"
}

install() {
    "$venv/bin/python" -m pip install --quiet --constraint "$constraints" "$@" || fail \
        "pip could not install what coldwarm needs (see above); run the same make again to retry." \
        "Behind a proxy or a mirror: set HTTPS_PROXY, or PIP_INDEX_URL." \
        "If only PyTorch fails: add TORCH=0, or TORCH_INDEX=https://download.pytorch.org/whl/cpu"
}

# First and alone, so that nothing else can pull in another build of it. An index of PyTorch
# builds holds little else, so what it depends on comes with the rest.
install_torch() {
    if [ -n "$TORCH_INDEX" ]; then
        install --no-deps --index-url "$TORCH_INDEX" torch
    else
        install --no-deps torch
    fi
}

# Git hooks: this checkout's own, and only where nobody has chosen others.
activate_hooks() {
    [ -z "${CI:-}${COLDWARM_NO_HOOKS:-}" ] || return 0
    [ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ] || return 0
    [ -z "$(git config core.hooksPath)" ] || return 0
    git config core.hooksPath .githooks
    echo "Commits now run 'make check' first; to undo: git config --unset core.hooksPath"
}

case $TORCH in
0) extras=jax,numba,report,sigstore,dev,docs size="1.6 GB" ;;
1) extras=jax,numba,torch,report,sigstore,dev,docs size="2.3 GB, or several more where PyTorch comes with CUDA" ;;
*) fail "TORCH is '$TORCH', but must be 1 (with PyTorch) or 0 (without)." ;;
esac

python=${PYTHON:-$(find_python)}
new_enough "$python" || fail "'$python' is missing or older than Python 3.11." \
    "Name a newer one: make run PYTHON=/path/to/python3.12"

choices="MADE_PYTHON := $python
MADE_TORCH := $TORCH
MADE_ROOT := $PWD"
rm -f "$venv/.made"
if [ "$(cat "$venv/choices.mk" 2>/dev/null)" != "$choices" ] || ! new_enough "$venv/bin/python"; then
    echo "Making $venv with $("$python" --version): a few minutes, about $size"
    make_empty
else
    echo "Updating $venv"
fi
[ "$TORCH" = 0 ] || install_torch
# The build backend comes first, so that the build itself is pinned too.
install hatchling editables
install --no-build-isolation --editable ".[$extras]"
# The environment may forbid Python to write bytecode; then sources would never have any.
"$venv/bin/python" -m compileall -q src
activate_hooks
printf '%s\n' "$choices" >"$venv/choices.mk"
touch "$venv/.made"
