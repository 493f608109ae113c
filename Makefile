# Two commands are enough: `make demo` and `make test`. Both make .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := .demo
# The order of the tests and the examples of the laws: `make test SEED=7` repeats what a run printed.
SEED := $(or $(SEED),$(shell od -An -N3 -tu4 /dev/urandom | tr -d ' '))
# One process more than two cores: many tests wait for processes that they start.
PYTEST = $(BIN)/pytest -q -n 3 --dist worksteal --randomly-seed=$(SEED) --hypothesis-seed=$(SEED)

# Without compiled files every process that a test starts compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test pytest test-laws test-slow test-agents gauntlet audit check types lint imports seeds format bench clean

demo: $(READY)
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	$(BIN)/holdfast replay --window 100000 examples/session/ledgerly.jsonl
	$(BIN)/holdfast --root $(DEMO) ingest examples/session/ledgerly.jsonl
	$(BIN)/holdfast --root $(DEMO) status
	$(BIN)/holdfast --root $(DEMO) compress --window 100000
	$(BIN)/holdfast --root $(DEMO) log
	$(BIN)/holdfast --root $(DEMO) recover "ours 118.74" --limit 1
	$(BIN)/holdfast --root $(DEMO) undo
	$(BIN)/holdfast --root $(DEMO) compress --budget 40000
	$(BIN)/holdfast --root $(DEMO) show --summary --form anchored
	$(BIN)/holdfast --root $(DEMO) undo
	$(BIN)/holdfast --root $(DEMO) export --output $(DEMO)/back.jsonl
	cmp examples/session/ledgerly.jsonl $(DEMO)/back.jsonl && echo "every byte came back"

# Scenarios with real clients run where `make test-agents` installed them; the others say they are skipped.
# Laws are tried with a fifth of their examples; another seed tries others.
# The types are checked beside the tests: that is one process and takes a while.
test: lint imports seeds
	@echo "seed $(SEED)"
	@$(MAKE) --no-print-directory -j 2 types pytest SEED=$(SEED)

pytest: $(READY)
	$(PYTEST) -m "not slow" --hypothesis-profile=gate

# Only the laws, as `make test` tries them: for more seeds.
test-laws: $(READY)
	@echo "seed $(SEED)"
	$(PYTEST) -m "hypothesis and not slow" --hypothesis-profile=gate

# What takes minutes, and every law with all of its examples: run before something is called finished.
test-slow: check
	@echo "seed $(SEED)"
	$(PYTEST) -m "slow or hypothesis" --hypothesis-profile=full

# Measure the patterns that are new or changed and add them to the list of those that are linear.
audit: $(READY)
	$(BIN)/python -m tests.structure.patterns

# Every public operation over every recorded session, whole, cut and damaged, on both cores; without
# the recorded sessions it says so and takes generated ones. `make gauntlet SEED=7` repeats a run;
# PART=1/8 takes every eighth session.
gauntlet: $(READY)
	$(BIN)/python -m tests.gauntlet --jobs 2 --seed $(SEED) $(if $(PART),--sample $(PART))
	$(BIN)/python -m tests.gauntlet.fuzz --rounds 60 --seed $(SEED)

# Holdfast inside the real clients: installs those that can be installed, then runs every scenario.
test-agents: $(READY)
	$(BIN)/python -m tests.agents
	$(PYTEST) -m "agents" tests/agents

check: lint types imports seeds

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/basedpyright

imports: $(READY)
	$(BIN)/lint-imports --no-cache

seeds: $(READY)
	@$(BIN)/python -m tests.seeds

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@if command -v uv >/dev/null 2>&1; \
	then VIRTUAL_ENV=$(VENV) uv pip install --quiet --compile-bytecode -e '.[dev]'; \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; fi
	@touch $(READY)

clean:
	rm -rf $(VENV) $(DEMO) .pytest_cache .ruff_cache .hypothesis .coverage
