# Every target sets up what it needs. Arguments pass through ARGS="...".
PYTHON ?= python3
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE  # the tests start some fifty processes, and import 300 modules of tests
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps  # a locked file has them all

.PHONY: help docs reference setup dev play serve test test-long test-all fast slow fast-check check bench soak chaos load mutants schemas page-types contracts rule-tests lock release clean licences browser screenshots

help:            ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(VENV)/run.stamp: requirements.txt requirements-build.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Ledgerline needs Python 3.11 or newer; set PYTHON=")'
	@echo "setting up $(VENV) (once; under a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) -r requirements.txt -r requirements-build.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-dev.txt requirements-docs.txt
	@echo "adding what the checks need (once)"
	@$(INSTALL) -r requirements-dev.txt -r requirements-docs.txt
	@touch $@

setup: $(VENV)/run.stamp   ## make .venv with the ledgerline command in it

dev: $(VENV)/dev.stamp     ## the same, with what tests and checks need

$(VENV)/browser.stamp: $(VENV)/dev.stamp requirements-browser.txt
	@echo "adding what the browser tests need (once)"
	@$(INSTALL) -r requirements-browser.txt
	@touch $@

browser: $(VENV)/browser.stamp   ## the same, with what tests/browser needs; the system's Chromium is found as chromium

screenshots: browser  ## pictures of every page, in light and dark, at four sizes, in screenshots/
	@$(BIN)/python -m tests.browser.screenshots $(ARGS)

play: setup      ## play a whole game with bots: make play ARGS="--seats greedy,random"
	@$(BIN)/ledgerline play $(ARGS)

serve: setup     ## keep everything running for players, at the address it prints
	@$(BIN)/ledgerline serve $(ARGS)

test: dev        ## the tests: every promise, rule and engine, in a few minutes
	@$(BIN)/python -m pytest $(ARGS)

test-long: dev   ## the rest of the tests: more seeds and positions, long runs of real faults
	@$(BIN)/python -m pytest -m "long or hypothesis" --hypothesis-profile=long $(ARGS)

test-all: dev    ## both in one run, which collects once and runs a property once, with the examples of the longer
	@$(BIN)/python -m pytest -m "" --hypothesis-profile=long $(ARGS)

$(VENV)/fast.stamp: $(VENV)/run.stamp requirements-fast.txt
	@echo "adding what compiling the rules needs (once)"
	@$(INSTALL) -r requirements-fast.txt
	@touch $@

fast: $(VENV)/fast.stamp   ## compile the rules with the C compiler: about 1.5 times as many decisions a second
	@$(BIN)/python deploy/compile_rules.py $(ARGS)

slow: setup      ## go back to the rules in pure Python
	@$(BIN)/python deploy/compile_rules.py --off

fast-check: dev $(VENV)/fast.stamp  ## the tests of what is compiled, and 2,000 games played in both forms
	@$(BIN)/python deploy/compile_rules.py
	@$(BIN)/python -m tests.compiled $(ARGS)

$(VENV)/pages.stamp: $(VENV)/dev.stamp package-lock.json .npmrc
	@echo "adding what the checks of the pages need (once)"
	@$(BIN)/npm ci --loglevel=error --ignore-scripts
	@touch $@

check: dev $(VENV)/pages.stamp  ## lint, format, types, imports, stale files, of Python and of the pages; says what to do
	@$(BIN)/python -m deploy.quick_checks

bench: dev       ## the figures, as a table and in bench.json
	@$(BIN)/python -m tests.bench $(ARGS)

soak: dev        ## new seeds: 10,000 of the simulator, the longest runs of real faults, 8,000 games for the plain referee
	@$(BIN)/python -m tests.simulator soak $(ARGS)
	@LEDGERLINE_SOAK=1 $(BIN)/python -m pytest -m "long or not long" tests/process_faults tests/chaos tests/fuzz tests/cluster tests/secrecy tests/bots/test_planner.py tests/bots/test_policy_games.py tests/bots/test_compact_game.py tests/trains_server tests/verification tests/schemas/test_strict.py tests/security/test_credentials.py tests/security/test_generated_requests.py tests/rules/test_plain_referee.py tests/rules/test_hostile_games.py

chaos: dev       ## break everything around games that are played; a table of what was acknowledged, lost, doubled: ARGS="--help"
	@$(BIN)/python -m tests.chaos $(ARGS)

load: dev        ## keep many games in play, as people play, and say which machine more need: ARGS="--help"
	@$(BIN)/python -m tests.load $(ARGS)

mutants: dev     ## plant bugs, one at a time, and show which test noticed each
	@$(BIN)/python -m tests.mutants $(ARGS)

docs: dev        ## the guide as a site in build/guide, for /guide of the gateway and for any static host
	@$(BIN)/python -m sphinx -q -W --keep-going -j 2 -b html -d build/doctrees -c docs . build/guide
	@echo "build/guide/docs/index.html is the first page; a gateway that is started here shows it at /guide"

reference: dev   ## write the pages of docs/reference that follow from code: commands, settings, calls, events, options, metrics
	@$(BIN)/python -m deploy.reference_pages

schemas: setup   ## write the JSON Schemas from the contracts
	@$(BIN)/python -m schemas.json_schema

page-types: dev  ## write the types of the API's calls for the pages, from the OpenAPI document
	@$(BIN)/python -m deploy.page_types

contracts: setup ## add new codes and fields to the record of what logs hold; what is recorded stays
	@$(BIN)/python -m schemas.contract_record --add

rule-tests: dev  ## write which tests hold each rule into tests/rules/tests_by_rule.md
	@$(BIN)/python -m tests.rules.tests_by_rule

licences: setup  ## write docs/reference/licences.md: what is installed, and under which licence
	@$(BIN)/python deploy/licence_page.py

lock: dev        ## resolve pyproject.toml and package.json into hash-locked files
	@$(BIN)/uv pip compile -q pyproject.toml --generate-hashes --no-emit-index-url --universal --python-version 3.11 --custom-compile-command "make lock" -o requirements.txt
	@$(BIN)/uv pip compile -q pyproject.toml --extra s3 --generate-hashes --no-emit-index-url --universal --python-version 3.11 --custom-compile-command "make lock" -c requirements.txt -o requirements-s3.txt
	@$(BIN)/uv pip compile -q pyproject.toml --extra dev --generate-hashes --no-emit-index-url --universal --python-version 3.11 --custom-compile-command "make lock" -c requirements.txt -o requirements-dev.txt
	@$(BIN)/uv pip compile -q pyproject.toml --extra fast --generate-hashes --no-emit-index-url --universal --python-version 3.11 --custom-compile-command "make lock" -c requirements-dev.txt -o requirements-fast.txt
	@$(BIN)/uv pip compile -q --group pyproject.toml:build --generate-hashes --no-emit-index-url --universal --python-version 3.11 --custom-compile-command "make lock" -c requirements-dev.txt -o requirements-build.txt
	@$(BIN)/uv pip compile -q --group pyproject.toml:docs --generate-hashes --no-emit-index-url --universal --python-version 3.11 --custom-compile-command "make lock" -c requirements-dev.txt -o requirements-docs.txt
	@$(BIN)/npm install --loglevel=error --package-lock-only
	@$(BIN)/uv pip compile -q --group pyproject.toml:browser --generate-hashes --no-emit-index-url --universal --python-version 3.11 --custom-compile-command "make lock" -c requirements-dev.txt -o requirements-browser.txt

release: dev     ## build the last commit twice into dist/: sdist, wheel, bill of materials, hashes, notes
	@$(BIN)/python -m deploy.make_release

clean:           ## remove what the targets made
	@rm -rf $(VENV) node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache bench.json chaos.json load.json mutants.jsonl build dist
