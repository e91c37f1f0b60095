# SPDX-License-Identifier: Apache-2.0
#
# The commands that people type. Each one works in a fresh clone; the build itself is CMake's.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
RUNS ?= 100000

BIN = build/release/bin

# $(call build,PRESET) or $(call build,PRESET,TARGET...)
define build
@cmake --preset $(1) --log-level=WARNING >/dev/null
@cmake --build --preset $(1) -j$(JOBS) $(if $(2),--target $(2))
endef

.PHONY: help demo test oracle bench bench-record bench-chaos bench-reduce bench-slices evaluation servers fuzz random format tidy clean

help:
	@echo 'make demo     install what is missing, build, and show the main job on an example'
	@echo 'make test     install what is missing, build, run every test and check'
	@echo 'make oracle   hold the decoder against this processor and Zydis, on all instructions of some binaries'
	@echo 'make bench    build and run the benchmarks'
	@echo 'make bench-record  measure what recording costs, beside what other tools cost'
	@echo 'make bench-chaos   count how often the examples fail under each kind of scheduling'
	@echo 'make evaluation  record the examples and the servers, and make the table of docs/evaluation.md'
	@echo 'make bench-reduce  measure what of the examples matters to how they end'
	@echo 'make bench-slices  measure what each step to smaller slices does to the examples'
	@echo 'make servers  install servers of Debian and record them under a small load'
	@echo 'make fuzz     look for inputs that break the readers, FUZZ_SECONDS=$(FUZZ_SECONDS) for each'
	@echo 'make random   hold every pass against its definition on RUNS=$(RUNS) random runs: takes hours'
	@echo 'make format   lay out the sources and check their licence lines'
	@echo 'make tidy     lint the sources; FILES=REGEX: only those whose path matches'
	@echo 'make clean    remove build/'
	@echo 'Each takes JOBS=$(JOBS), the number of processes at a time.'

# A server that does not crash under Valgrind by itself: the recorder tries schedules until it does.
demo:
	@packaging/install-missing build run
	$(call build,release,svd-record svd_tool svd_preload svd-analyze svd_examples)
	@echo
	$(BIN)/svd-record -o build/demo.fb --chaos=1 --runs=50 --until-failure -- build/release/examples/cache_server build/release/examples/cache_client 10
	$(BIN)/svd-analyze info build/demo.fb
	$(BIN)/svd-analyze build/demo.fb

test:
	@packaging/install-missing build run check
	@tests/run $(JOBS)

oracle:
	@packaging/install-missing build run
	$(call build,release,svd-oracle)
	@tests/oracle/run $(BIN)/svd-oracle

bench:
	@packaging/install-missing build run
	$(call build,release,bench)

bench-record:
	@packaging/install-missing build run measure
	$(call build,release,svd-record svd_tool svd_preload svd_bench_programs)
	@tests/bench/record/run build/release

bench-chaos:
	@packaging/install-missing build run
	$(call build,release,svd-record svd_tool svd_preload svd_examples)
	@tests/bench/chaos/run build/release

evaluation:
	@packaging/install-missing build run measure
	@tests/servers/install
	$(call build,release,svd-record svd-analyze svd_tool svd_preload svd_examples)
	@tests/evaluation/run build/release --servers

bench-reduce:
	@packaging/install-missing build run
	$(call build,release,svd-record svd-analyze svd_tool svd_preload svd_examples)
	@tests/bench/reduce/run build/release

bench-slices:
	@packaging/install-missing build run
	$(call build,release,svd-record svd-analyze svd_tool svd_preload svd_examples)
	@tests/bench/slices/run build/release

servers:
	@packaging/install-missing build run measure
	@tests/servers/install
	$(call build,release,svd-record svd-analyze svd_tool svd_preload)
	@tests/servers/run build/release

fuzz:
	@packaging/install-missing build run check
	$(call build,fuzz)
	@tests/fuzz/run $(FUZZ_SECONDS)

random:
	@packaging/install-missing build run
	$(call build,release)
	@SVD_RANDOM_RUNS=$(RUNS) ctest --test-dir build/release -L unit -j$(JOBS) --timeout 864000 --output-on-failure

format:
	@packaging/install-missing check
	@tests/check-style --fix

tidy:
	@packaging/install-missing build run check
	$(call build,release)
	@tests/check-lint $(JOBS) '$(FILES)'

clean:
	rm -rf build
