# Two commands are enough: `make demo` and `make test`. Both make .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := .demo

.PHONY: demo test test-slow test-agents check types lint imports seeds format bench clean

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
test: check
	$(BIN)/pytest -q -n 2 -m "not slow"

# What takes minutes: run before something is called finished.
test-slow: check
	$(BIN)/pytest -q -n 2 -m "slow"

# Holdfast inside the real clients: installs those that can be installed, then runs every scenario.
test-agents: $(READY)
	$(BIN)/python -m tests.agents
	$(BIN)/pytest -q -n 2 -m "agents" tests/agents

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
