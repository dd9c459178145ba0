# The menu of what a developer can do. `make` prints it.
# A fresh machine needs python3 (3.11 or newer, with venv), make and nothing else.

SHELL := bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Two workers suit the smallest machine the suite is run on; `make test JOBS=0` runs in one process.
JOBS ?= 2
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: calibration glossary help demo test check format snapshots tui-screens bench torture soak wheel clean

help: ## this menu
	@echo "vaultmem: what you can do here"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.installed ## sync a copy of the sample vault and ask it three questions
	@VAULTMEM="$(BIN)/vaultmem" bash scripts/demo.sh

test: $(VENV)/.installed-dev ## every test (first time: installs what tests need)
	$(BIN)/pytest -n $(JOBS) $(PYTEST_ARGS)

check: $(VENV)/.installed-dev ## lint, formatting, types, import walls
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev ## let ruff put the code in order
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

snapshots: $(VENV)/.installed-dev ## accept the dashboard's screens as they look now
	$(BIN)/pytest tests/dashboard -k snapshot --snapshot-update $(PYTEST_ARGS)

tui-screens: $(VENV)/.installed ## draw the pictures of docs/tui.md
	$(BIN)/python scripts/tui_screens.py

glossary: $(VENV)/.installed ## write the rooms and their modules into docs/glossary.md anew
	$(BIN)/python scripts/rooms.py

calibration: $(VENV)/.installed-dev ## measure the bundled model on the shipped texts anew, after they changed
	$(BIN)/python scripts/ship_calibration.py

bench: $(VENV)/.installed-dev ## the performance bars, as ratios (minutes)
	$(BIN)/python -m pytest tests/benchmarks -o python_files='bench_*.py' -s -q -p no:xdist $(PYTEST_ARGS)

torture: $(VENV)/.installed-dev ## 200 kills, 100 random histories, each file of the caches damaged in each way (an hour)
	VAULTMEM_KILLS=200 VAULTMEM_EXAMPLES=100 VAULTMEM_WALK=1 $(BIN)/pytest tests/engine/test_kill.py \
	  tests/engine/test_state_machine.py tests/engine/test_damage_walk.py -s -q -p no:xdist --timeout 3600 $(PYTEST_ARGS)

soak: $(VENV)/.installed-dev ## twenty busy minutes of watch and MCP: memory, descriptors, threads and disk must stay flat
	$(BIN)/python scripts/soak.py --minutes $(or $(MINUTES),20)

wheel: $(VENV)/.installed-dev ## build the wheel into dist/, check what it holds, try it in an empty environment
	rm -rf build dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w dist .
	rm -rf build
	$(BIN)/pytest -q tests/test_packaging.py
	PYTHON="$(PYTHON)" bash scripts/try_wheel.sh

clean: ## remove what make made: the venv, the demo, caches
	rm -rf $(VENV) .demo build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache snapshot_report.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "vaultmem needs Python 3.11 or newer; say which with: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/.made
	@echo "Installing vaultmem into $(VENV) (once; a few minutes on a slow line)"
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/.made
	@echo "Installing what the tests need into $(VENV) (once; torch is large)"
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/.installed
