# `make` or `make help` lists what there is.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.PHONY: help run test test-slow check format ui bench clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

run: $(VENV)/.installed ## Install, fetch the small model, run one cycle, say what came out (ARGS="--slots 4" passes flags)
	@$(BIN)/spade run $(ARGS)

test: $(VENV)/.installed-dev ## Install, then run the tests (ARGS="-k name" passes flags)
	@$(BIN)/python -m pytest -q -n 2 --dist loadscope $(ARGS)

test-slow: $(VENV)/.installed-dev ## The tests that take long or build environments of their own
	@$(BIN)/python -m pytest -q -m slow $(ARGS)

check: $(VENV)/.installed-dev ## Formatting, lint, types, layers
	@$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

format: $(VENV)/.installed-dev ## Format and mend what can be mended by itself
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

ui: $(VENV)/.installed ## Open the Prefect UI over the runs so far
	@$(BIN)/spade ui

clean: ## Remove the virtual environment and caches, never var/
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is older. Set PYTHON=/path/to/python3.11." >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "The venv module is missing. On Debian or Ubuntu: apt install python3-venv" >&2; exit 2; }

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing spade-factory into $(VENV) ..."
	@$(PIP) install -c constraints.txt -e . && touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing spade-factory and its test tools into $(VENV) ..."
	@$(PIP) install -c constraints.txt -e '.[dev]' && touch $@ $(VENV)/.installed
