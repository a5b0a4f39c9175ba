# Two commands are the whole set-up on a fresh machine: `make demo` and `make test`. Both make and reuse .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Where the native module comes from; a change here builds it again.
NATIVE := CMakeLists.txt $(wildcard cpp/*/*.cpp cpp/*/*.hpp cpp/*/*.inl cpp/include/lowdim/*.hpp)
CPP := cpp/*/*.cpp cpp/*/*.hpp cpp/*/*.inl cpp/include/lowdim/*.hpp $(addprefix benchmarks/libraries/*.,cpp hpp inl)
SANITIZED := build/sanitized
UNDER_SANITIZERS = LOWDIM_NATIVE=$(abspath $(SANITIZED)) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)"
# Build with a package already in .venv, keep the build folder, and stop at any compiler warning.
INSTALL := $(BIN)/pip install -q --no-build-isolation -C cmake.define.LOWDIM_STRICT=ON -e .
# The build of PyTorch for CPUs, without the libraries of a GPU: from the indexes pip knows, or from PyTorch's own.
TORCH := 2.13.0$(if $(filter Linux,$(shell uname -s)),+cpu)
TRITON := 3.9.0# its interpreter runs the kernels without a GPU; a PyTorch for GPUs brings its own
TORCH_INDEX := https://download.pytorch.org/whl/cpu

.DEFAULT_GOAL := help
.PHONY: help setup demo gallery docs test lint format bench bench-libraries wheel sanitize torture clean

help: ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.tools: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install -q --upgrade "pip>=25.1"
	$(BIN)/pip install -q --group dev
	@$(BIN)/pip install -q "torch==$(TORCH)" 2>/dev/null \
	  || $(BIN)/pip install -q --index-url $(TORCH_INDEX) "torch==$(TORCH)" \
	  || echo "PyTorch could not be had: the tests of the autoencoder will be skipped."
	@$(BIN)/pip install -q "triton==$(TRITON)" 2>/dev/null \
	  || echo "Triton could not be had: the tests of kernels for GPUs will be skipped."
	@touch $@

$(STAMP): $(VENV)/.tools $(NATIVE)
	$(INSTALL)
	@touch $@

setup: $(STAMP) ## create .venv with lowdim and its tools (the others do this by themselves)

demo: $(STAMP) ## compare the methods on the digits, write the page and print where it is
	@$(BIN)/python examples/demo.py

gallery: $(STAMP) ## render the pictures of docs/gallery.md (set LOWDIM_DATA for faces, objects and MNIST)
	@$(BIN)/python -m examples

docs: $(STAMP) ## build the site in build/site and check its links; any warning is an error
	$(BIN)/pip install -q --group docs
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -d build/doctrees docs build/site
	$(BIN)/python docs/_site/links.py build/site
	@echo "$(abspath build/site)/index.html"

test: $(STAMP) ## everything CI runs except lint: tests, doctests, layers
	$(BIN)/python -m pytest

lint: $(STAMP) ## formatting, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)

format: $(STAMP) ## rewrite sources in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CPP)

bench: $(STAMP) ## time, memory and quality beside the peers, to benchmarks/results.md (set LOWDIM_DATA; BEFORE=PYTHON runs another lowdim beside, ROUNDS=N sets the runs of each)
	$(BIN)/pip install -q --group bench
	$(BIN)/python -m benchmarks $(if $(BEFORE),--before $(BEFORE)) $(if $(ROUNDS),--rounds $(ROUNDS))
	$(BIN)/python -m benchmarks.ratios
	$(BIN)/python -m benchmarks.readme

bench-libraries: $(STAMP) ## what the core writes by hand beside libraries, to benchmarks/results_libraries.md
	@$(BIN)/pip install -q --group libraries || echo "Not all libraries of PyPI could be had; those are skipped."
	$(BIN)/python -m benchmarks.libraries

wheel: $(VENV)/.tools ## sdist and wheels in dist/, each tried in a fresh environment (PYTHONS names interpreters)
	$(BIN)/pip install -q --group wheels
	$(BIN)/python wheels/build.py $(PYTHONS)

torture: $(STAMP) ## hostile inputs, damaged files, kills, limits and signals (TORTURE="inputs=100 --seed 1" chooses)
	$(BIN)/python -m torture $(TORTURE)

sanitize: $(STAMP) ## native tests and some minutes of torture under AddressSanitizer and UndefinedBehaviorSanitizer
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DLOWDIM_SANITIZE=ON -DLOWDIM_STRICT=ON \
	  -DPython_EXECUTABLE=$(abspath $(BIN)/python)
	$(BIN)/cmake --build $(SANITIZED)
	$(UNDER_SANITIZERS) $(BIN)/python -m pytest tests/native
	$(UNDER_SANITIZERS) $(BIN)/python -m torture inputs=2000 files=2000 --seconds 240 --limit 120

clean: ## remove .venv, build, dist and demo
	rm -rf $(VENV) build dist demo
