# `make demo` and `make test` need Python 3.11+, make and pip's registry, nothing else.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo quick test lint types tests quick-tests bench peers docs notebooks clean

demo: .venv/installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# For every change while it is being made: about a minute on two cores.
quick: .venv/dev
	@$(MAKE) --no-print-directory -j2 lint types
	@$(MAKE) --no-print-directory quick-tests

# All there is; what CI runs.
test: lint types tests

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/structure.py --check

types: .venv/dev
	$(BIN)/mypy

tests: .venv/dev
	$(BIN)/python -m pytest -n auto --dist loadfile

quick-tests: .venv/dev
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow and not browser and not cluster"

bench: .venv/dev
	$(BIN)/python benchmarks/run.py

peers: .venv/peers
	$(BIN)/python benchmarks/peers/run.py

docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo 'site/index.html is there; it needs no server and no network'

notebooks: .venv/dev
	$(BIN)/python examples/notebooks/run.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dagneal needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml Makefile
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@# Of this only axe-core's script is used, in the browser that is there; its dependency, another browser driver, is 50 MB.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'axe-playwright-python>=0.1.8'
	@touch $@ .venv/installed .venv/docs

.venv/peers: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	@# Only its scores are measured; what it solves with is a commercial solver, which they do without.
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps pygobnilp
	@touch $@ .venv/installed

.venv/docs: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@ .venv/installed

clean:
	rm -rf .venv demo site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
