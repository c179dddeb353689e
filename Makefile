# The few commands people type. CMakePresets.json has the details.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SERVE_DSN ?= sqlite:build/serve.db
SERVE_LISTEN ?= 127.0.0.1:8080

.DEFAULT_GOAL := help
.PHONY: help demo serve test accuracy build lint format asan tsan coverage bench fuzz install clean

help:
	@echo "make demo      build, and see the main job done on an embedded database"
	@echo "make serve     build, and serve API and dashboard with a worker (SERVE_DSN, SERVE_LISTEN)"
	@echo "make test      build, and run every test"
	@echo "make accuracy  read invoices out of made-up e-mails, and print how many were read right"
	@echo "make build     build the programs into build/bin"
	@echo "make install   install library, headers and programs below PREFIX (/usr/local)"
	@echo "make bench     measure beside other queues; QUICK=1 in 3 minutes, GROWTH=1 how figures grow,"
	@echo "               PUBLISH=1 into docs/benchmarks.md; bench/README.md has the method"
	@echo "make lint      check formatting, clang-tidy, shell scripts"
	@echo "make format    format the sources"
	@echo "make asan      run the tests with the address and undefined behaviour sanitizers"
	@echo "make tsan      run the tests with the thread sanitizer"
	@echo "make coverage  run the tests, and print how much of the sources they reach"
	@echo "make fuzz      run each fuzz target for FUZZ_SECONDS (60)"
	@echo "make clean     remove all build directories"

build:
	@scripts/install-packages build apps
	@cmake --preset dev -DERRAND_BUILD_TESTS=OFF -DERRAND_BUILD_EXAMPLES=ON --log-level=WARNING
	@cmake --build --preset dev

demo: build
	@scripts/demo build/bin

serve: build
	@build/bin/errand serve --worker --dsn $(SERVE_DSN) --listen $(SERVE_LISTEN)

test:
	@scripts/install-packages build apps test
	@cmake --preset dev -DERRAND_BUILD_TESTS=ON -DERRAND_BUILD_EXAMPLES=ON --log-level=WARNING
	@cmake --build --preset dev
	@ctest --preset dev || { scripts/failed-tests build; exit 1; }

accuracy:
	@scripts/install-packages build apps test
	@cmake --preset dev -DERRAND_BUILD_TESTS=ON --log-level=WARNING
	@cmake --build --preset dev --target invoice_accuracy
	@apps/invoice_intake/fixtures/make_fixtures.py build/invoice-fixtures
	@apps/invoice_intake/fixtures/make_fixtures.py build/invoice-fixtures-held-out --seed 2
	@echo "The e-mails that reading was adjusted on (seed 1):"
	@build/bin/invoice_accuracy build/invoice-fixtures
	@echo "E-mails that it was not (seed 2):"
	@build/bin/invoice_accuracy build/invoice-fixtures-held-out

asan tsan:
	@scripts/install-packages build apps test
	@cmake --preset $@ --log-level=WARNING
	@cmake --build --preset $@
	@ctest --preset $@

coverage:
	@scripts/install-packages build apps test
	@cmake --preset coverage --log-level=WARNING
	@cmake --build --preset coverage
	@ctest --preset coverage
	@scripts/coverage build-coverage

bench: build
	@scripts/install-packages test bench
	@bench/run $(if $(GROWTH),--growth) $(if $(QUICK),--quick) $(if $(PUBLISH),--publish) $(if $(ONLY),--only $(ONLY)) $(BENCH_OPTIONS)

lint:
	@scripts/install-packages build apps test lint
	@cmake --preset dev -DERRAND_BUILD_TESTS=ON --log-level=WARNING
	@scripts/lint build

format:
	@scripts/install-packages lint
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 -i

fuzz:
	@scripts/install-packages build apps fuzz
	@cmake --preset fuzz --log-level=WARNING
	@cmake --build --preset fuzz
	@scripts/fuzz build-fuzz $(FUZZ_SECONDS)

install:
	@scripts/install-packages build apps
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release
	@cmake --install build-release --prefix $(PREFIX)

clean:
	@rm -rf build build-*
