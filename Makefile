# Needs Python 3.11+ and the package index, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test test-all test-page test-botorch peers docs dist check-dist lint types contract shape changelog bench bench-speed bench-all fuzz clean clean-cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "netbo needs Python 3.11 or later, got " + sys.version.split()[0] + "; try make PYTHON=python3.12"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/.netbo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[telecom,paper,dask]"
	@touch $@

$(VENV)/.test: $(VENV)/.netbo
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

demo: $(VENV)/.netbo
	$(BIN)/netbo demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow and not browser"

test-all: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) -m "not browser"

# Installs Chromium where that is Debian and root; elsewhere the tests name the command.
test-page: $(VENV)/.test
	@if [ -z "$$NETBO_CHROMIUM" ] && ! command -v chromium chromium-browser google-chrome >/dev/null \
	&& [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -q && apt-get install -y -q chromium; fi
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/python -m pytest tests/page

.venv-botorch/.test: pyproject.toml
	$(PYTHON) -m venv .venv-botorch
	.venv-botorch/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-botorch/bin/python -m pip install --quiet --editable ".[botorch]" pytest hypothesis
	@touch $@

test-botorch: .venv-botorch/.test
	OPENBLAS_NUM_THREADS=1 .venv-botorch/bin/python -m pytest tests/integrations/botorch

.venv-peers/.done: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-peers/bin/python -m pip install --quiet --editable ".[botorch,paper,geo,water,power]" --group peers
	@touch $@

peers: .venv-peers/.done
	.venv-peers/bin/python benchmarks/leaderboard.py peers --locked --jobs $(JOBS)

# The site, in docs/_build/html: warnings are errors, examples are run, every local link is followed.
docs: $(VENV)/.docs
	OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 $(BIN)/sphinx-build -W --keep-going -q -E -b html docs docs/_build/html
	$(BIN)/python tools/check_site.py docs/_build/html

$(VENV)/.release: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

dist: $(VENV)/.release
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

# Uses the wheel as a user does, in a fresh environment, with this Python or CHECKED=python3.13.
check-dist: dist
	$(BIN)/python tools/check_dist.py --python $(or $(CHECKED),$(BIN)/python)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.lint
	$(BIN)/mypy

contract: $(VENV)/.lint
	$(BIN)/lint-imports

shape: $(VENV)/.lint
	$(BIN)/python tools/shape.py

changelog: $(VENV)/.lint
	$(BIN)/towncrier build --draft --version next

# The short form, without peers: up to 30,000 nodes, nothing is written.
bench: $(VENV)/.test
	$(BIN)/python benchmarks/targets.py --largest 30000
	$(BIN)/python benchmarks/growth.py --largest 30000
	$(BIN)/python benchmarks/threads.py
	$(BIN)/python benchmarks/long_runs.py --turns 400
	$(BIN)/python benchmarks/rivals.py --largest 30000 $(if $(REFERENCE),--reference $(REFERENCE))
	$(BIN)/python benchmarks/start.py --repeats 1

# The records of docs/benchmarks.md and the picture; other tools are measured where `make peers` was run.
bench-speed: $(VENV)/.test
	for name in targets growth threads long_runs start newcomer; do \
	$(BIN)/python benchmarks/$$name.py --out benchmarks/results/$$name.json || exit 1; done
	$(BIN)/python benchmarks/rivals.py --out benchmarks/results/rivals.json $(if $(REFERENCE),--reference $(REFERENCE))
	if [ -e .venv-peers/.done ]; then .venv-peers/bin/python benchmarks/peer_times.py --out benchmarks/results/peer_times.json; fi
	$(BIN)/python benchmarks/speed_tables.py
	$(BIN)/python benchmarks/tables.py --write

bench-all: bench-speed
	$(BIN)/python benchmarks/core.py --out benchmarks/results/core.json $(if $(REFERENCE),--reference $(REFERENCE))
	$(BIN)/python benchmarks/small_samples.py --out benchmarks/results/small_samples.json
	$(BIN)/python benchmarks/geometry.py --out benchmarks/results/geometry.json
	$(BIN)/python benchmarks/optimizer.py --out benchmarks/results/optimizer.json
	$(BIN)/python benchmarks/asking.py --out benchmarks/results/asking.json
	$(BIN)/python benchmarks/tables.py --write
	$(BIN)/python benchmarks/page.py --out benchmarks/results/page.json

fuzz: $(VENV)/.test
	$(BIN)/python benchmarks/fuzz.py --out benchmarks/results/fuzz.json

clean-cache:
	find src -name '*.nb[ic]' -delete

clean: clean-cache
	rm -rf docs/_build docs/gallery docs/notebooks docs/reference/api $(VENV) .venv-botorch .venv-peers .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
