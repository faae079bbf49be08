# Two commands matter: `make quickstart` and `make test`.
# PYTHON chooses the interpreter for a new environment, VENV where it lies.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
# Extra arguments for pytest, such as: make test PYTEST_ARGS="-m 'not slow'"
PYTEST_ARGS ?=

.PHONY: help quickstart test lint clean

help:
	@echo "make quickstart   set up, train a small agent, benchmark it, print the table (some minutes)"
	@echo "make test         set up, then ruff, mypy, import directions and all tests"
	@echo "make lint         the same without the tests"
	@echo "make clean        delete the environment and all caches (runs/ stays)"

quickstart: $(RUN_STAMP)
	$(BIN)/elfern run configs/train/quickstart.yaml
	$(BIN)/elfern run configs/tournament/quickstart.yaml

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -q -n 2 --dist worksteal $(PYTEST_ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v[:2] <= (3, 13) else f"elfern_rl needs Python 3.11 to 3.13, but $(PYTHON) is {v[0]}.{v[1]}; name another: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

# Installed again only when what is to be installed has changed.
$(RUN_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing elfern_rl into $(VENV) (once) ..."
	$(INSTALL) -e .
	@touch $@

$(DEV_STAMP): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing elfern_rl with its development tools into $(VENV) (once) ..."
	$(INSTALL) -e ".[dev]"
	@touch $(RUN_STAMP) $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
