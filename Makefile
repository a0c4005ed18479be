# Everything a person does here, from a fresh checkout: each target installs what it needs first.
# Needed on the machine: git, make and Python 3.11 or newer. PYTHON=/path/to/python3.13 chooses another one.

MAKEFLAGS += --no-print-directory
RUN := .venv/bin
# Without the bytecode of an earlier run, each process of the tests would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE
# The environment's own Python starts faster than a version manager's python3, and is new enough.
BOOT := $(firstword $(wildcard .venv/bin/python) python3)
TESTS ?= tests
# More options for pytest: `make test-browser MORE="-k axe"`; BREADTH=--all for all cases of every kind.
MORE ?=
BREADTH ?=
FUZZ_SECONDS ?= 60
SBOM ?= slipway.cdx.json
JOBS ?= 2000
SEEDS ?= 10000
# Of four workers, two usually wait for another process: two processors are busy. tests/schedule.py says what
# one worker runs as a whole.
BY_STACKS = --dist loadscope --no-loadscope-reorder
PYTEST_FLAGS ?= -n 4 $(BY_STACKS)
# Tests that only compute are many and short. Each worker would collect all of them and report every one, which takes
# a third of their time: they are run by plain pytest, beside the workers with the others.
COMPUTING = tests/crash tests/fuzz tests/unit
IN_PLAIN = $(filter $(COMPUTING) $(COMPUTING:%=%/%),$(TESTS))
ON_WORKERS = $(filter-out --% $(IN_PLAIN),$(TESTS))
# `.ci/run` names what it leaves out among the places.
LEFT_OUT = $(filter --%,$(TESTS)) $(APART:%=--ignore=%)
IS_ALL = $(filter tests,$(TESTS))
OF_PLACES = $(MAKE) $(if $(and $(IN_PLAIN),$(ON_WORKERS)),-j 2) test-computing test-waiting
CLUSTER ?= emulator
CLUSTER_NEEDS = $(if $(filter slurm kubernetes,$(CLUSTER)),install-$(CLUSTER),install-demo)
# Each worker has a cluster of its own, for which its tests wait most of the time.
ON_CLUSTERS = -n 3 --dist loadscope
ON_SLURM = tests/contract/slurm tests/acceptance/slurm
ON_KUBERNETES = tests/acceptance/kubernetes
APART = $(ON_SLURM) $(ON_KUBERNETES) tests/browser
CHECKS = "ruff check ." "ruff format --check ." mypy "lint-imports --no-logo"
each = failed=0; for tool in $(1); do echo "-- $$tool"; $(RUN)/$$tool || failed=1; done; exit $$failed

.DEFAULT_GOAL := help
.PHONY: help demo up test test-computing test-waiting test-all test-crash test-az test-browser screenshots install-browser test-install test-torch chaos chaos-sim mutants hand-mutants fuzz pip-audit lock docs dist sbom quick check nightly bench fmt install install-demo clean slurm-up test-slurm install-slurm kube-up test-kube install-kubernetes

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(CLUSTER_NEEDS) ## bring up the whole system here and watch real jobs travel through it (CLUSTER=slurm, batch or kubernetes)
	@$(RUN)/slipway demo --cluster $(CLUSTER)

up: $(CLUSTER_NEEDS) ## the same with one first job, and keep it running until Ctrl-C (CLUSTER=kubernetes, too; UP_FLAGS=--any-ports where its ports are taken)
	@$(RUN)/slipway up --cluster $(CLUSTER) --example $(UP_FLAGS)

test: install ## some cases of each test, without what waits long (tests/parts.py); one case of each kind of some tests: TESTS=tests/unit
	@$(if $(IS_ALL),$(RUN)/python -m tests.quick --tests $(BREADTH) $(MORE),$(OF_PLACES))

# Of what TESTS names: what starts nothing and waits for nothing.
test-computing:
	@$(if $(IN_PLAIN),$(RUN)/python -m pytest -n 0 $(BREADTH) $(LEFT_OUT) $(IN_PLAIN) $(MORE),:)

# The others.
test-waiting:
	@$(if $(ON_WORKERS),$(RUN)/python -m pytest -n 3 $(BY_STACKS) $(BREADTH) $(LEFT_OUT) $(ON_WORKERS) $(MORE),:)

test-all: install ## all suites of it and those that it leaves to .ci/run, in all cases of every kind, and with all random examples
	@$(RUN)/python -m pytest --all $(PYTEST_FLAGS) $(APART:%=--ignore=%) $(TESTS) $(MORE)

test-crash: install ## the crash tests with every fault at every call; in test-all the faults take turns
	@$(RUN)/python -m pytest --every-fault $(PYTEST_FLAGS) tests/crash

test-az: install ## the real Azure CLI against the emulator (installs it into .venv-az: 0.8 GB)
	@$(RUN)/python tests/acceptance/setup/install_extra.py az .venv-az
	@SLIPWAY_AZ=$(CURDIR)/.venv-az/bin/az $(RUN)/python -m pytest tests/acceptance/az

test-browser: install install-browser ## the page in Debian's Chromium, against the real local stack
	@$(RUN)/python -m pytest -n 3 --dist loadscope $(BREADTH) tests/browser $(MORE)

screenshots: install install-browser ## the pictures of the page in the README, of jobs that run here, into docs/images
	@$(RUN)/python -m tests.browser.screenshots

chaos: install ## the whole system under kills and faults, then the verdict (JOBS=2000, CLUSTER=batch, CHAOS_FLAGS="--seed 1")
	@$(RUN)/python -m tests.chaos --jobs $(JOBS) --cluster $(CLUSTER) $(CHAOS_FLAGS)

chaos-sim: install ## random schedules of faults on the real code in memory (SEEDS=10000)
	@$(RUN)/python -m tests.crash.simulate --seeds $(SEEDS)

mutants: install ## small wrong changes to the use cases that no test notices (MUTANTS="shared/lifecycle/sweeper.py --sample 0.1")
	@$(RUN)/python -m tests.mutants $(MUTANTS)

slurm-up: install-slurm ## a real elastic Slurm cluster on this machine, until Ctrl-C
	@$(RUN)/python -m local.slurm

test-slurm: install $(if $(SLURM),,install-slurm) ## the tests that need a real Slurm; SLURM=24.11 or 26.05 for those, from a newer Debian
	@$(if $(SLURM),root=$$($(RUN)/python -m local.slurm.newer $(SLURM)) && SLURM_ROOT=$$root) \
		$(RUN)/python -m pytest $(ON_CLUSTERS) -k slurm $(BREADTH) $(ON_SLURM) tests/contract/test_engine.py $(MORE)

kube-up: install-kubernetes ## a real Kubernetes on this machine, until Ctrl-C (KUBE_FLAGS="--nodes 3"; the first time it is built: minutes)
	@$(RUN)/python -m local.kubernetes $(KUBE_FLAGS)

test-kube: install $(if $(SLIPWAY_TEST_KUBECONFIG),,install-kubernetes) ## the tests that need a real Kubernetes; SLIPWAY_TEST_KUBECONFIG=FILE for one of yours
	@$(RUN)/python -m pytest -rs $(ON_KUBERNETES)
	@$(RUN)/python -m pytest -rs tests/contract/test_engine.py -k kube-real

test-install: install ## the function app and the command by plain pip in new environments, on Python 3.11 and 3.13; the command on 3.12 and 3.14, too
	@$(RUN)/python -m tests.acceptance.setup.clean_install 3.11 3.12 3.13 3.14

test-torch: install ## data-parallel PyTorch on emulated nodes (into .venv-torch: 1 GB, with CUDA several)
	@$(or $(TORCH_PYTHON),$(RUN)/python) tests/acceptance/setup/install_extra.py torch .venv-torch
	@SLIPWAY_TORCH=$(CURDIR)/.venv-torch/bin/python $(RUN)/python -m pytest tests/contract/emulator -k pytorch_trains

fuzz: install ## the spec reader under a coverage-guided fuzzer, atheris (FUZZ_SECONDS=60)
	@$(RUN)/python -m local.setup.groups --target .local/atheris fuzz
	@mkdir -p .local/fuzz/corpus
	@PYTHONPATH=.local/atheris $(RUN)/python -m tests.fuzz.spec_reader -max_total_time=$(FUZZ_SECONDS) \
		-artifact_prefix=.local/fuzz/ .local/fuzz/corpus

pip-audit: install ## known vulnerabilities of every pinned package; fails when the service does not answer
	@$(RUN)/python -m local.setup.advisories --strict

lock: install ## uv.lock and requirements.txt from pyproject.toml (LOCK=--upgrade for newer versions of what it brings)
	@$(RUN)/python -m local.setup.lock $(LOCK)

docs: install ## the pages as a site, in .local/site/site; fails on a link that leads nowhere
	@$(RUN)/python -m local.site

dist: install ## what a release publishes, in dist/: the sources, and the wheel that is made from them
	@rm -rf dist
	@$(RUN)/python -m uv build --no-config --offline --no-build-isolation --quiet --python $(RUN)/python --out-dir dist
	@ls dist

sbom: install ## what the function app is made of, as CycloneDX: slipway.cdx.json
	@$(RUN)/python -W ignore -m cyclonedx_py requirements requirements.txt --pyproject pyproject.toml --mc-type application \
		--output-reproducible --of JSON --validate --output-file $(SBOM)
	@echo $(SBOM)

hand-mutants: install ## small wrong changes by hand, over all rooms, that the fast tests have to notice (MUTANTS="shared/core --sample 0.2")
	@$(RUN)/python -m tests.mutants.hand $(MUTANTS)

quick: install ## before each commit, in a minute: lint, formatting, types, import directions, unit tests and those of lists and documents
	@$(RUN)/python -m tests.quick

check: install ## lint, formatting, types (of the page and of infra/, too), import directions, known vulnerabilities
	@$(call each,$(CHECKS) "python -m local.setup.page" "python -m local.bicep" "python -m local.setup.advisories")

nightly: ## all that takes hours, each part of .ci/nightly in turn (NIGHTLY="cases chaos" for some of them)
	@.ci/nightly $(NIGHTLY)

bench: install ## measure, in one interleaved run (BENCH="--jobs 400 --rounds 4 --idle 60 --only floor,noop"; --list)
	@$(RUN)/python -m local.setup.groups bench
	@$(RUN)/python -m bench $(BENCH)

fmt: install ## format, and mend what can be mended
	@$(RUN)/ruff format .
	@$(RUN)/ruff check --fix .

install: ## install everything for work on the project into .venv and node_modules
	@$(BOOT) -m local.setup.install --what dev

install-slurm: install-demo ## Debian's packages of Slurm, with apt-get as root or by sudo
	@$(RUN)/python -m local.slurm.install

install-kubernetes: install-demo ## Kubernetes, built once out of Debian's source package (apt-get as root or by sudo)
	@$(RUN)/python -m local.kubernetes.build

install-browser: install ## Debian's Chromium with apt-get, as root or by sudo, and Playwright
	@$(RUN)/python -m local.setup.browser

install-demo:
	@$(BOOT) -m local.setup.install --what demo

clean: ## remove all that was installed, built or stored here
	rm -rf .venv .venv-tools .venv-az .venv-torch .venv3* node_modules web/node_modules page .local *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
