# Everything a checkout can do. Each target makes .venv itself when it is missing or stale.
#
#   make run                    measure the quick suite, and make its page (ARGS='--backend numpy' adds options)
#   make run TORCH=0            the same without PyTorch; the choice is remembered in .venv
#   make run TORCH_INDEX=URL    take PyTorch from another index, such as its CPU-only builds
#   make PYTHON=python3.12 …    use another interpreter; remembered likewise
#   make VENV=.venv-3.13 …      keep another environment beside .venv

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.made
ARGS ?=

# What .venv was made with: MADE_PYTHON, MADE_TORCH, MADE_ROOT.
-include $(VENV)/choices.mk
PYTHON ?= $(MADE_PYTHON)
TORCH ?= $(or $(MADE_TORCH),1)
TORCH_INDEX ?=

# Another choice, a moved checkout or an interpreter that is gone make it stale.
ifneq ($(PYTHON) $(TORCH) $(CURDIR),$(MADE_PYTHON) $(MADE_TORCH) $(MADE_ROOT))
STALE := FORCE
else ifeq ($(realpath $(BIN)/python),)
STALE := FORCE
endif

# Lines of concurrent checks stay together where make can do so.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# What measures nothing runs in as many processes as there are cores, four at most; ARGS='-n 0' runs
# it in one. Processes that tests start, and pytest itself, compile nothing twice.
COMPILED = $(BIN)/python -m compileall -q src benchmarks
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
SEVERAL := -n logical --maxprocesses=4 --dist=worksteal
SHARD ?= 1/1

CHECKS := check-types check-docs check-format check-lint check-imports

.PHONY: help run test fast check docs bench slow clean $(CHECKS) FORCE
.DEFAULT_GOAL := help

help:
	@echo "make run     measure the quick suite on every framework (TORCH=0: without PyTorch)"
	@echo "make test    check, then the fast tests"
	@echo "make check   format, lint, types, import contracts, docs"
	@echo "make docs    build the documentation into docs/_build/html"
	@echo "make bench   measure the harness itself and print one table"
	@echo "make slow    every test, the slow ones too (SHARD=2/4: the second quarter of them)"
	@echo "make clean   remove what make made, but not the results under out/"

$(STAMP): pyproject.toml constraints/cpu.txt tools/venv.sh $(STALE)
	@VENV='$(VENV)' PYTHON='$(PYTHON)' TORCH='$(TORCH)' TORCH_INDEX='$(TORCH_INDEX)' sh tools/venv.sh

# Sources may have changed since they were compiled, and the environment may forbid Python to
# write bytecode: a measured import must not pay for either.
run: $(STAMP)
	@$(BIN)/python -m compileall -q src
	@$(BIN)/coldwarm run --suite quick --page $(ARGS)

test: check fast

# Without the checks: for a second interpreter.
fast: $(STAMP)
	@$(COMPILED)
	@$(PYTEST) $(SEVERAL) $(ARGS)

# Most slow tests measure, and those that do not fill the machine by themselves: one after another.
slow: $(STAMP)
	@$(COMPILED)
	@$(PYTEST) $(SEVERAL) --shard=$(SHARD) $(ARGS)
	@$(PYTEST) -m slow --shard=$(SHARD) $(ARGS)

bench: $(STAMP)
	@$(BIN)/python -m compileall -q src benchmarks
	@$(BIN)/python -m benchmarks $(ARGS)

check: $(STAMP)
	@$(MAKE) --no-print-directory --keep-going --jobs=2 $(SYNC) $(CHECKS)

check-format: $(STAMP)
	@$(BIN)/ruff format --check --quiet . || \
	  { echo "check-format: run $(BIN)/ruff format"; exit 1; }

check-lint: $(STAMP)
	@$(BIN)/ruff check --quiet .

check-types: $(STAMP)
	@$(BIN)/mypy

check-imports: $(STAMP)
	@$(BIN)/lint-imports --no-logo

docs: check-docs
	@echo "docs/_build/html/index.html"

# A failed build is thrown away: pages that Sphinx has read are not warned about again.
check-docs: $(STAMP)
	@$(BIN)/python -m sphinx -q -W -n --keep-going -d docs/_build/doctrees docs docs/_build/html || \
	  { rm -rf docs/_build; exit 1; }

clean:
	rm -rf $(VENV) docs/_build docs/reference dist .mypy_cache .ruff_cache .pytest_cache \
	  .hypothesis .import_linter_cache
	find src tests docs benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
