# quorum: `make demo` and `make test` do everything on a fresh Debian machine.
# CMake does the work; this file is the front door.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE_FLAGS ?=
PYTHON  ?= /usr/bin/python3 -B
RESULTS  = bench/results
CAMPAIGN_SECONDS ?= 3600
LONG     = -LE long

.PHONY: all setup setup-doors demo test test-only campaign fuzz bench bench-results sanitize sanitize-all thread-sanitize format format-check tidy \
        check-includes docs wheel deb dist doors arm64 install r-check r-package clean help

all: $(BUILD)/build.ninja           ## build the library, the command and the tests
	cmake --build $(BUILD) -j $(JOBS)

help:                               ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 28

setup:                              ## install what is missing (apt; sudo when not root)
	@scripts/setup

setup-doors: | setup
	@scripts/setup doors

$(BUILD)/build.ninja: CMakeLists.txt tests/CMakeLists.txt bench/CMakeLists.txt | setup
	cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_FLAGS)

demo: all                           ## fit, predict and evaluate on built-in data; draws demo.svg
	$(BUILD)/quorum demo -o $(BUILD)

test: all | setup-doors             ## all tests
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

campaign: all                       ## faults, kills, limits and fuzzing for CAMPAIGN_SECONDS (3600), then a table
	tests/campaign/run --build $(BUILD) --seconds $(CAMPAIGN_SECONDS)

fuzz: | setup                       ## the fuzzing harnesses, with clang (tests/fuzz/README.md)
	cmake -S . -B $(BUILD)-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DQUORUM_FUZZ=ON
	cmake --build $(BUILD)-fuzz -j $(JOBS) --target fuzzers

bench: all                          ## speed of each stage against what limits it here; table, CSV, picture
	$(BUILD)/bench/quorum_bench --csv $(BUILD)/bench.csv \
	    --commit "$$(git describe --always --dirty 2>/dev/null || echo '?')"
	@$(PYTHON) bench/plot.py $(BUILD)/bench.csv -o $(BUILD)/bench.svg

bench-results: all                  ## refresh docs/performance.md's figures; DATA=directory of the data sets
	@test -d "$(DATA)" || { echo "make bench-results DATA=DIR: the directory of the data sets"; exit 2; }
	$(BUILD)/bench/quorum_bench --csv $(RESULTS)/suite.csv --commit "$$(git describe --always --dirty)"
	$(PYTHON) bench/plot.py $(RESULTS)/suite.csv -o $(RESULTS)/suite.svg
	$(PYTHON) bench/busy.py --quorum $(BUILD)/quorum
	$(PYTHON) bench/scale.py --quorum $(BUILD)/quorum
	$(PYTHON) bench/single_precision.py --quorum $(BUILD)/quorum --data "$(DATA)"
	$(PYTHON) bench/peers/compare.py --quorum $(BUILD)/quorum --data "$(DATA)"
	$(PYTHON) bench/tables.py

sanitize-all:                       ## the same with the tests that take long
	$(MAKE) sanitize LONG=
sanitize: | setup                   ## the tests under address and undefined-behaviour sanitizers
	cmake -S . -B $(BUILD)-asan -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	      -DQUORUM_SANITIZE=address,undefined
	cmake --build $(BUILD)-asan -j $(JOBS)
	UBSAN_OPTIONS=print_stacktrace=1 \
	ctest --test-dir $(BUILD)-asan --output-on-failure -j $(JOBS) -E 'bitwise|glasso_r|python|browser|experiments.test_reproduce|bench.(plot|scale|busy|peers|tables|test)|^campaign' $(LONG)

thread-sanitize: | setup            ## the threaded unit tests under the thread sanitizer
	cmake -S . -B $(BUILD)-tsan -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DQUORUM_SANITIZE=thread
	cmake --build $(BUILD)-tsan -j $(JOBS)
	ctest --test-dir $(BUILD)-tsan --output-on-failure -R '^unit\.' -j $(JOBS)

SOURCES = $(shell git ls-files '*.c' '*.h')

format:                             ## format the sources
	clang-format -i $(SOURCES)

format-check: | setup               ## fail when a source is not formatted
	clang-format --dry-run --Werror $(SOURCES)

tidy: all                           ## clang-tidy over library and command
	scripts/tidy $(BUILD)

check-includes:                     ## a room may include only the rooms before it
	scripts/check-includes

docs: all                           ## regenerate what the tables of options and of the model file's members make
	$(BUILD)/quorum options --markdown > docs/options.md
	$(BUILD)/tests/model_file_page < docs/model-file.md > $(BUILD)/model-file.md
	cp $(BUILD)/model-file.md docs/model-file.md
	QUORUM_LIBRARY=$(BUILD)/libquorum.so /usr/bin/python3 -B python/generate_parameters.py
	QUORUM_LIBRARY=$(BUILD)/libquorum.so /usr/bin/python3 -B r/generate_options.py

wheel: all                          ## a Python wheel that needs nothing but glibc, into BUILD/wheel
	scripts/wheel $(BUILD)

deb:                                ## Debian packages, into BUILD/deb
	scripts/deb $(BUILD)/deb

dist:                               ## the source archive, which builds without git, into BUILD
	scripts/dist $(BUILD)

doors: all | setup-doors            ## every way to install it, from a clean root, with all its tests; RECORD=--record notes what was found
	tests/install/doors $(BUILD) $(RECORD)

arm64: all                          ## built for 64-bit ARM, tested under qemu; long
	tests/install/doors $(BUILD) $(RECORD) arm64

install: all                        ## library, header, pkg-config, command, man page, completion
	cmake --install $(BUILD) --prefix $(PREFIX)
	@test -n "$(DESTDIR)" -o "$$(id -u)" != 0 || PATH="$$PATH:/usr/sbin:/sbin" ldconfig # or programs would not find it

r-check: all                        ## R CMD check --as-cran of the R package, over this build
	scripts/r-check $(BUILD)
	tests/install/check-r-package $(BUILD)

r-package:                          ## the R package with the library's sources inside, as an archive in BUILD
	scripts/r-package $(BUILD)

clean:                              ## remove build directories
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz
