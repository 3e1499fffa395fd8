# Every target sets itself up in .venv. `make help` lists them.
PYTHON ?= python3
DATA ?= fixtures/faulty
OUT ?= dataguard-out
ARGS ?=
export DATA OUT

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -qq -c .constraints.txt
NEEDS := pyproject.toml .constraints.txt
# One stamp for each set of packages. Installing for tests serves `validate` as well, so it stamps both.
CORE := $(VENV)/.installed-core
TEST := $(VENV)/.installed-test
BENCH := $(VENV)/.installed-bench
TORCH := $(VENV)/.installed-torch

.DEFAULT_GOAL := help
.PHONY: help validate sampler test cases fuzz search lint format types check boundscheck kill wheel-test catalogue bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  make validate DATA=path/to/shards ARGS='--suite sft --tokenizer tokenizer.json' OUT=report-folder"

validate: $(CORE) ## judge DATA (without DATA: a small data set with planted faults); ends with 2 where the data fails
ifeq ($(origin DATA),file)
	@echo "no DATA given: judging $(DATA), a small data set with planted faults" >&2
endif
	@$(BIN)/dataguard validate "$$DATA" --out "$$OUT" $(ARGS)

# Its report would take the place of that of validate.
sampler: export OUT := $(if $(filter file,$(origin OUT)),sampler-out,$(OUT))
sampler: $(TORCH) ## judge what the distributed sampler deals of DATA (ARGS='--world-size 8 --batch-size 4 --epochs 3')
	@$(BIN)/dataguard sampler "$$DATA" --out "$$OUT" $(ARGS)

test: $(TEST) ## run the tests (ARGS goes to pytest)
	$(BIN)/python -m pytest $(ARGS)

cases: $(TEST) ## run the field reports of tests/cases against the command line, as a user would
	$(BIN)/python tests/cases/run_cases.py tests/cases/hand --command "$(BIN)/dataguard" $(ARGS)

fuzz: $(TEST) ## judge ten thousand damaged files: each must be a finding or a clean read (ARGS='--count N')
	$(BIN)/python -m tests.fuzz.run $(ARGS)

search: export DATAGUARD_SEARCH ?= 20
search: $(TEST) ## try every property on twenty times as many made-up inputs, new ones each time (some minutes)
	$(BIN)/python -m pytest -m hypothesis $(ARGS)

lint: $(TEST) ## ruff, rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(TEST) ## let ruff mend what it can
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

types: $(TEST) ## mypy --strict
	$(BIN)/mypy

check: lint types test ## lint, types and test

# numba's cache on disk does not tell kernels with bounds checks from those without: these get a folder of their own.
boundscheck: export NUMBA_BOUNDSCHECK := 1
boundscheck: export NUMBA_CACHE_DIR := $(CURDIR)/$(VENV)/numba-boundscheck
boundscheck: $(TEST) ## run the kernels' tests with bounds checks compiled in
	$(BIN)/python -m pytest tests/metrics $(ARGS)

kill: export DATAGUARD_KILLS ?= 100
kill: $(TEST) ## kill a hundred runs at random moments, and look at what they leave (some minutes)
	$(BIN)/python -m pytest tests/run/test_killed.py -s -n 0 $(ARGS)

wheel-test: $(TEST) ## build the wheel and try it in a fresh environment with core dependencies alone
	$(BIN)/python tests/wheel.py

catalogue: $(TEST) ## write expectations/README.md anew from the table of expectations
	$(BIN)/python -m dataguard.suite.readme > $(VENV)/catalogue.md
	cp $(VENV)/catalogue.md expectations/README.md

bench: $(BENCH) ## measure side by side with what a user would use instead, into benchmarks/RESULTS.md (half an hour, 20 GB)
	$(BIN)/python benchmarks/bench.py $(ARGS)

clean: ## remove .venv, caches and outputs
	rm -rf $(VENV) build dist dataguard-out sampler-out .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find dataguard tests fixtures -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "dataguard needs Python 3.11 or newer; $(PYTHON) is older or missing." >&2; \
	  echo "  fix   make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(CORE): $(NEEDS) | $(BIN)/python
	@echo "installing dataguard into $(VENV), once" >&2
	@$(PIP) --editable .
	@touch $@

$(TEST): $(NEEDS) | $(BIN)/python
	@echo "installing dataguard and what its tests need into $(VENV), once" >&2
	@$(PIP) --editable '.[test]'
	@touch $(CORE) $@

$(TORCH): $(NEEDS) | $(BIN)/python
	@echo "installing dataguard and torch into $(VENV), once" >&2
	@$(PIP) --editable '.[torch]'
	@touch $(CORE) $@

# OLMo-core's filter is a function of NumPy alone; what its package needs beside it would take gigabytes.
$(BENCH): $(NEEDS) | $(BIN)/python
	@echo "installing dataguard and what it is compared with into $(VENV), once" >&2
	@$(PIP) --editable '.[bench]'
	@$(PIP) --no-deps 'ai2-olmo-core>=3.0'
	@touch $(CORE) $@
