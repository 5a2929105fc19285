# make demo   kill a notebook's kernel part-way, run it again, and see that nothing is paid twice
# make test   lint, types and every test
# Everything is built in .venv; a second run installs nothing again. Another Python: make test PYTHON=python3.12

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# One venv, so two installs must not run at once under `make -j`.
.NOTPARALLEL:
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
# Two workers for two cores; tests that share a kernel or a browser stay on one worker by their xdist_group.
WORKERS ?= 2
PYTEST := $(PY) -m pytest -n $(WORKERS) --dist loadgroup

.PHONY: help demo test test-lowest lint format types bench soak clean

help:
	@sed -n '1,3s/^# //p' Makefile

demo: $(VENV)/.stamp-lab
	$(PY) notebooks/demo.py

test: lint types
	$(PYTEST)

# The same tests on the oldest versions that pyproject.toml allows.
test-lowest:
	$(MAKE) --no-print-directory VENV=.venv-lowest CONSTRAINTS=tests/lowest.txt .venv-lowest/.stamp-test
	.venv-lowest/bin/python -m pytest -n $(WORKERS) --dist loadgroup

lint: $(VENV)/.stamp-test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(VENV)/.stamp-test
	$(PY) -m mypy

format: $(VENV)/.stamp-test
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

bench: $(VENV)/.stamp-test
	$(PY) -m tests.bench

soak: $(VENV)/.stamp-test
	$(PY) -m pytest -m soak

clean:
	rm -rf .venv .venv-lowest build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find jupyter_wfresume notebooks tests -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp, not bin/python: a venv that was interrupted half-made is made anew.
$(VENV)/.stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "jupyter_wfresume needs Python 3.10 or later, and '$(PYTHON)' is not:" \
	    "run make again with PYTHON=/path/to/a/newer/python3" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

CONSTRAINTS ?=
INSTALL := $(PY) -m pip install --quiet $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))

$(VENV)/.stamp-lab: $(VENV)/.stamp-venv pyproject.toml $(CONSTRAINTS)
	$(INSTALL) --editable '.[lab]'
	@touch $@

$(VENV)/.stamp-test: $(VENV)/.stamp-venv pyproject.toml $(CONSTRAINTS)
	$(INSTALL) --editable '.[test]'
	@touch $@
