# The two commands a newcomer needs are `make demo` and `make test`; both set up all they need on a machine with
# Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help demo report up test lint format bench docs clean

help: ## What each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.user ## See drafts failed, revised and served, all in one process; with the install about a minute
	@$(BIN)/assay demo

report: $(VENV)/.user ## Write the report of made-up weeks to assay-report.html
	@$(BIN)/assay report --example --out assay-report.html

up: $(VENV)/.user ## Start every worker (on the embedded broker and cache unless ASSAY_KAFKA / ASSAY_REDIS are set)
	@$(BIN)/assay up

test: $(VENV)/.dev ## Run all tests; those of real Kafka and Redis where they can be had
	@$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(VENV)/.dev ## ruff, mypy --strict, and the architecture test
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/python -m pytest tests/test_architecture.py

format: $(VENV)/.dev ## Format the code
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

bench: $(VENV)/.dev ## Ratios against bare baselines, measured in one run
	@$(BIN)/python -m benchmarks.stats_speed
	@$(BIN)/python -m benchmarks

docs: $(VENV)/.user ## Write the generated tables into README.md, and the report's schema
	@$(BIN)/python -m scripts.readme_tables

clean: ## Remove the virtual environment and started services' files
	@rm -rf $(VENV) .services .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Assay needs Python 3.11 or newer; set PYTHON=/path/to/python3.11 (this is " + sys.version.split()[0] + ")")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.user: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Assay into $(VENV) ..."
	@$(BIN)/pip install --quiet --editable '.[embedded,plots]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	@echo "Installing Assay and its development tools into $(VENV) ..."
	@$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.user
