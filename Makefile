# Everything installed, cached or written stays inside this folder.
PYTHON ?= python3
VENV := .venv
BARE := .venv-bare
BIN := $(VENV)/bin
export PIP_CACHE_DIR := $(CURDIR)/.cache/pip
export XDG_CACHE_HOME := $(CURDIR)/.cache
export TMPDIR := $(CURDIR)/.cache/tmp
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_ROOT_USER_ACTION := ignore

.PHONY: help demo test test-fast test-bare check format bench clean

help:
	@echo 'make demo       run the demonstration: live agent and recorded runs, scored'
	@echo 'make test       run the tests, with every extra installed'
	@echo 'make test-fast  the same without the tests marked slow'
	@echo 'make test-bare  run the tests with no extra installed'
	@echo 'make check      lint, format, types, import rule'
	@echo 'make bench      print the benchmark tables'

demo: $(VENV)/.demo
	$(BIN)/agentpath demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest

test-fast: $(VENV)/.dev
	$(BIN)/python -m pytest -m 'not slow'

test-bare: $(BARE)/.test
	$(BARE)/bin/python -m pytest -m 'not slow'

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) $(BARE) .cache demo-output bench-output .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	mkdir -p $(TMPDIR)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade 'pip>=25.1'

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	mkdir -p $(TMPDIR)
	$(BIN)/python -m pip install -q -e '.[cli,langchain]'
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	mkdir -p $(TMPDIR)
	$(BIN)/python -m pip install -q -e '.[all]' --group dev
	touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	mkdir -p $(TMPDIR)
	$(BIN)/python -m pip install -q -e '.[all]' --group bench
	touch $@

$(BARE)/.test: pyproject.toml
	mkdir -p $(TMPDIR)
	test -x $(BARE)/bin/python || $(PYTHON) -m venv $(BARE)
	$(BARE)/bin/python -m pip install -q --upgrade 'pip>=25.1'
	$(BARE)/bin/python -m pip install -q -e . --group test
	touch $@
