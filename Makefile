# Everything runs in .venv, which these targets make themselves: a machine needs Python >= 3.11 and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
export UV_PROJECT_ENVIRONMENT := $(VENV)

.DEFAULT_GOAL := help
.PHONY: help demo test check fix bench docs lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): requirements.lock pyproject.toml
	@PYTHON="$(PYTHON)" VENV="$(VENV)" sh scripts/bootstrap.sh
	@touch $@

demo: $(READY)  ## five questions over the demo documents, each a different path through the loop
	@$(BIN)/selfright demo

test: $(READY)  ## the whole test suite
	@sh scripts/browser.sh
	@sh scripts/node.sh
	@$(BIN)/python -m pytest

check: $(READY)  ## format, lint, types, import contracts, generated docs
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/check_house.py
	@$(BIN)/python scripts/generate_docs.py --check

fix: $(READY)  ## format and apply what the linter can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY)  ## measure speed and quality; DATA=folder of BEIR-layout sets
	@$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA))

docs: $(READY)  ## write the generated pages of docs/
	@$(BIN)/python scripts/generate_docs.py

lock: $(READY)  ## resolve requirements.lock anew
	@sh scripts/lock.sh

clean:  ## remove the environment and caches
	rm -rf $(VENV) .node .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
