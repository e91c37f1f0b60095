# SPDX-License-Identifier: Apache-2.0
#
# The commands that people type. Each one works in a fresh clone; the build itself is CMake's.

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60

BIN = build/release/bin

# $(call build,PRESET) or $(call build,PRESET,TARGET...)
define build
@cmake --preset $(1) --log-level=WARNING >/dev/null
@cmake --build --preset $(1) -j$(JOBS) $(if $(2),--target $(2))
endef

.PHONY: help demo test bench fuzz format tidy clean

help:
	@echo 'make demo     install what is missing, build, and show the main job on an example'
	@echo 'make test     install what is missing, build, run every test and check'
	@echo 'make bench    build and run the benchmarks'
	@echo 'make fuzz     look for inputs that break the readers, FUZZ_SECONDS=$(FUZZ_SECONDS) for each'
	@echo 'make format   lay out the sources and check their licence lines'
	@echo 'make tidy     lint the sources; FILES=REGEX: only those whose path matches'
	@echo 'make clean    remove build/'
	@echo 'Each takes JOBS=$(JOBS), the number of processes at a time.'

demo:
	@packaging/install-missing build run
	$(call build,release,svd-analyze svd-example-trace)
	@echo
	$(BIN)/svd-example-trace build/demo.fb
	$(BIN)/svd-analyze info build/demo.fb
	$(BIN)/svd-analyze dump build/demo.fb --limit=20

test:
	@packaging/install-missing build run check
	@tests/run $(JOBS)

bench:
	@packaging/install-missing build run
	$(call build,release,bench)

fuzz:
	@packaging/install-missing build run check
	$(call build,fuzz)
	@tests/fuzz/run $(FUZZ_SECONDS)

format:
	@packaging/install-missing check
	@tests/check-style --fix

tidy:
	@packaging/install-missing build run check
	$(call build,release)
	@tests/check-lint $(JOBS) '$(FILES)'

clean:
	rm -rf build
