# `make demo` and `make test` need only Python 3.11 or newer, make and pip.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo quick test lint types tests quick-tests package bench peers docs notebooks clean

demo: .venv/installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# Run this while you work: about a minute on two cores.
quick: .venv/dev
	@$(MAKE) --no-print-directory -j2 lint types
	@$(MAKE) --no-print-directory quick-tests

# Everything; CI runs this.
test: lint types tests package

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

# Build the wheel and the sdist in dist/, and test them outside the clone.
package: .venv/dev
	$(BIN)/python tools/package.py

bench: .venv/dev
	$(BIN)/python benchmarks/run.py

peers: .venv/peers
	$(BIN)/python benchmarks/peers/run.py

docs: .venv/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python tools/links.py
	@echo 'open site/index.html; it needs no server and no network'

notebooks: .venv/dev
	$(BIN)/python examples/notebooks/run.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dagneal needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml
	@echo 'installing dagneal and its dependencies in .venv (about 550 MB)'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@$(BIN)/python -m compileall -q src  # commands start faster, even if the environment forbids to write bytecode
	@touch $@

.venv/dev: .venv/bin/python pyproject.toml Makefile
	@echo 'installing dagneal and its development tools in .venv (about 1.6 GB)'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@# The tests use only the axe-core script of this package. Its dependency, another browser driver, takes 50 MB.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'axe-playwright-python>=0.1.8'
	@$(BIN)/python -m compileall -q src
	@touch $@ .venv/installed .venv/docs

.venv/peers: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[peers]'
	@# The benchmarks measure only its scores, which do not need its commercial solver.
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps pygobnilp
	@touch $@ .venv/installed

.venv/docs: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@ .venv/installed

clean:
	rm -rf .venv demo dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
