# Everything runs in .venv inside the checkout. `make demo` and `make test` set it up by themselves.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.stamps
# What is imported is compiled once, and not in each of the processes that tests begin.
unexport PYTHONDONTWRITEBYTECODE
# What `make test` passes on to pytest, such as TESTS=tests/web; all tests without it.
TESTS ?=
# Tests wait for half of their time: a few more processes than there are cores.
PROCESSES ?= $(shell expr $$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) + 2)
# What `make faults` runs: faults and steps by name, and --alone; all of the matrix without it.
FAULTS ?=
# What `make crashes` runs: databases, rollouts and kinds of steps by name; all of the matrix without it.
CRASHES ?=
# For which systems `make dist` builds the twin: glibc 2.17 or newer and musl 1.2 or newer, on both kinds of processors.
TARGETS ?= x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu aarch64-unknown-linux-musl
# What builds distributions, beside .venv: the linker alone has 400 MB.
TOOLS := build/tools
SOURCES_BROWSER := $(shell find browser -type f -not -path '*/node_modules/*' -not -path '*/build/*' -not -path '*.egg-info/*')
SOURCES_TWIN := twin/Cargo.toml twin/Cargo.lock twin/pyproject.toml $(shell find twin/src -name '*.rs')

.PHONY: setup demo demo-packets demo-virtual-time test hostile faults crashes bare lint lint-python lint-rust messages bench coverage docs docs-pictures dist sbom clean lock
.DELETE_ON_ERROR:

setup: $(STAMP)/app

$(STAMP)/tools:
	@command -v $(PYTHON) >/dev/null || { echo "missing: $(PYTHON) (install Python 3.11 or newer)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "missing: Python 3.11 or newer ($(PYTHON) is older; try make PYTHON=python3.11)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
	  || { echo "missing: Python's venv module (a package such as python3-venv)"; exit 1; }
	@command -v cargo >/dev/null || { echo "missing: cargo (install a Rust toolchain)"; exit 1; }
	@command -v cc >/dev/null || { echo "missing: cc (the Rust linker needs a C compiler)"; exit 1; }
	@mkdir -p $(@D) && touch $@

$(STAMP)/lock: requirements.lock $(STAMP)/tools
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing locked dependencies into .venv (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r requirements.lock
	@touch $@

$(STAMP)/twin: $(SOURCES_TWIN) $(STAMP)/lock
	@echo "building the twin"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --force-reinstall ./twin
	@touch $@

# The scripts of others that pages load, from npm: package-lock.json has their hashes.
$(STAMP)/browser: $(SOURCES_BROWSER) $(STAMP)/lock
	@echo "bundling the pages' scripts"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps --force-reinstall ./browser
	@touch $@

$(STAMP)/app: pyproject.toml clients/python/pyproject.toml drivers/pyproject.toml lab/pyproject.toml $(STAMP)/twin $(STAMP)/browser
	@rm -rf app/qosforge.egg-info # of a build by setuptools: it would hide new entry points
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
	  -e . -e ./clients/python -e ./drivers -e ./lab
	@touch $@

# One intent on the campus of emulated devices, to its verdict; a second time there is nothing to change.
demo: setup
	@$(BIN)/qosforge lab up
	@$(BIN)/qosforge run policies/campus-collaboration.yaml; code=$$?; $(BIN)/qosforge lab down; exit $$code

# The loop on Linux routers of this machine's kernel, judged by real packets; takes root.
demo-packets: export QOSFORGE_VAR_DIR := $(CURDIR)/var/packets
demo-packets: setup
	@$(BIN)/python -m tests.install_system_packages namespaces ssh-server probes
	@$(BIN)/qosforge lab up --network examples/packets/network
	@$(call kept_and_taken_back,examples/packets)

# The same in one guest whose clock counts instructions: delays are the routers' alone, so they are judged, too.
demo-virtual-time: export QOSFORGE_VAR_DIR := $(CURDIR)/var/virtual-time
demo-virtual-time: setup
	@$(BIN)/python -m tests.install_system_packages virtual-time-network
	@$(BIN)/qosforge lab up --virtual-time --network examples/virtual-time/network
	@$(call kept_and_taken_back,examples/virtual-time)

# In the lab of a folder: its first policy is kept, and its second one, which starves calls, is taken back.
define kept_and_taken_back
$(BIN)/qosforge run $(1)/voice.yaml --network $(1)/network --tester probes; kept=$$?; \
$(BIN)/qosforge run $(1)/starved.yaml --network $(1)/network --tester probes; taken=$$?; \
last=$$($(BIN)/qosforge runs --limit 1 --json); \
$(BIN)/qosforge lab clean --network $(1)/network || exit; \
test $$kept -eq 0 || { echo "$(1)/voice.yaml was not kept"; exit 1; }; \
case "$$taken $$last" in "1 "*'"status": "rolled_back"'*) ;; *) echo "$(1)/starved.yaml was not taken back"; exit 1 ;; esac
endef

# All tests. What they need of the operating system is installed first, where that may be done without asking.
test: setup
	@$(BIN)/python -m tests.install_system_packages
	@cargo test --quiet --manifest-path twin/Cargo.toml
	@$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations 25 $(TESTS)

# Both commands on bare machines; takes root, and hours (BARE="--sample trixie/user": a part, on one of them).
bare:
	@$(PYTHON) .ci/bare.py $(BARE)

# What hostile devices, callers and texts may try; it ends with the counts.
hostile: setup
	@$(BIN)/python -m pytest -n $(PROCESSES) --dist loadfile -m hostile $$(grep -rl 'pytest.mark.hostile' tests --include='test_*.py')

# Each fault of the lab's devices at each step of a push; it ends with the counts (FAULTS="hang commit": a part of it).
faults: setup
	@$(BIN)/python -m tests.system.fault_matrix $(FAULTS)

# A rollout killed at each of its recorded steps, on both databases; it ends with the counts (CRASHES="sqlite journal").
crashes: setup
	@$(BIN)/python -m tests.system.crash_matrix $(CRASHES)

lint: lint-python lint-rust

lint-python: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

lint-rust: setup
	@cargo fmt --manifest-path twin/Cargo.toml --check
	@cargo clippy --quiet --manifest-path twin/Cargo.toml --all-targets -- -D warnings

# The texts of the pages, for translators to begin from: docs/web.md says how a language is added.
messages: setup
	@mkdir -p app/qosforge/web/locale
	@$(BIN)/pybabel --quiet extract -F app/qosforge/web/babel.cfg -k text -o app/qosforge/web/locale/pages.pot app/qosforge/web app/qosforge/finding_codes.yaml
	@echo "app/qosforge/web/locale/pages.pot"

bench: setup
	@$(BIN)/python -m benchmarks

# How often limits and verdicts are wrong, against known truth: half an hour, and docs/coverage.md.
coverage: setup
	@$(BIN)/python -m benchmarks.coverage

# The documentation as a site, in app/qosforge/documentation: wheels carry it, and a service has it at /docs.
docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict -f site/mkdocs.yml

# The pages as its pictures show them, of a run on the demo's emulated devices: minutes, and docs/pictures.
docs-pictures: setup
	@$(BIN)/python -m tests.documentation.pictures

$(TOOLS)/installed: requirements-dist.lock
	@rm -rf $(TOOLS) && $(PYTHON) -m venv $(TOOLS)
	@echo "installing what builds distributions into $(TOOLS)"
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r requirements-dist.lock
	@touch $@

# Wheels and source distributions of everything, in dist. The twin is linked by Zig, which has the C libraries of every
# target; Rust's standard library comes from rustup for targets that the toolchain has none for.
dist: export PATH := $(CURDIR)/$(TOOLS)/bin:$(PATH)
dist: docs $(TOOLS)/installed
	@rm -rf dist
	@for project in . browser clients/python drivers lab; do \
	  python -m build --no-isolation --outdir dist $$project >build/build.log 2>&1 || { cat build/build.log; exit 1; }; \
	done
	@maturin sdist --manifest-path twin/Cargo.toml --out dist >build/build.log 2>&1 || { cat build/build.log; exit 1; }
	@for target in $(TARGETS); do \
	  test -d "$$(rustc --print target-libdir --target $$target)" || rustup --quiet target add $$target \
	    || { echo "missing: Rust's standard library for $$target (rustup target add $$target, or leave it out of TARGETS)"; exit 1; }; \
	  case $$target in *-musl) oldest=musllinux_1_2;; *) oldest=manylinux_2_17;; esac; \
	  echo "building the twin for $$target"; \
	  maturin build --release --locked --zig --target $$target --compatibility $$oldest \
	    --manifest-path twin/Cargo.toml --out dist >build/build.log 2>&1 || { cat build/build.log; exit 1; }; \
	done
	@$(BIN)/python -m ansible.cli.galaxy collection build clients/ansible --output-path dist >build/build.log 2>&1 \
	  || { cat build/build.log; exit 1; }
	@ls dist

# What the product is made of: a CycloneDX document for each kind of package, and every licence in a list, in build/sbom.
# The Python part is that of an environment with the runtime lock alone.
sbom: setup $(TOOLS)/installed
	@$(BIN)/python .ci/sbom.py

clean:
	rm -rf .venv var build dist twin/target app/qosforge/documentation

# Resolve the dependencies anew; hashes are kept, addresses are not. The image takes its parts from the same pins.
lock: setup
	@own="--no-emit-package qosforge-browser --no-emit-package qosforge-napalm-drivers --no-emit-package qosforge-twin"; \
	options="--quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header $$own"; \
	$(BIN)/uv pip compile $$options pyproject.toml --group build --group dev --output-file requirements.lock || exit 1; \
	for wanted in "runtime pyproject.toml" "build --group build" "dist --group build --group dist"; do \
	  set -- $$wanted; name=$$1; shift; \
	  $(BIN)/uv pip compile $$options "$$@" --no-annotate --constraint requirements.lock \
	    --output-file requirements-$$name.lock || exit 1; \
	done
	@cd browser && NODE_USE_SYSTEM_CA=1 ../$(BIN)/npm install --silent --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved
