# Everything here is written out in README.md for machines without make.

VENV ?= .venv
# The first of these that is Python 3.11 or later; another: make app PYTHON=/path/to/python3.12
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do $$p -c '$(RECENT)' 2>/dev/null && echo $$p && break; done)
RECENT := import sys; sys.exit(sys.version_info < (3, 11))
RUN := $(VENV)/bin/python

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help app test check bench format constraints hashes clean environment dev-environment programs axe

help:  ## show this list
	@sed -nE 's/^([a-z]+):.*##  ?(.*)/make \1	\2/p' Makefile | expand -t 20

app: environment  ## install what is needed, add the sample, start the app (PORT=8600 for another port)
	$(RUN) -m relic_core app $(if $(PORT),--port=$(PORT))

test: dev-environment programs axe check  ## install what testing needs (Chromium and Caddy too, through apt) and run all that CI runs

# Tests go in the order of their files, so that those of the browser, few and long, begin early and leave no tail.
check:  ## run everything that CI runs, installing nothing
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/typos
	$(RUN) tools/house.py --max circles=0 --max services_importing_wiring=0 --max locators=0 --max store_reached=0 --max services_files=40 \
		--max type_checking=30 --max core_tokens=521850 --max ui_tokens=93950 --max dialect=2 --max dialect_phrases=1 --max core_nested=2 --max ui_nested=3 \
		--max long_functions=0 --max many_parameters=0
	$(RUN) -m pytest -n auto --dist loadfile --no-loadscope-reorder

bench: dev-environment  ## time indexing and searching on this machine
	$(RUN) -m tools.bench

format: dev-environment  ## put the code into the one form and mend what can be mended mechanically
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

constraints:  ## after changing a pin: resolve afresh in a new .venv and write constraints.txt
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	grep -hv '^-' $(filter-out requirements-large.txt,$(wildcard requirements*.txt)) > $(VENV)/direct.txt
	$(RUN) -m pip install --require-hashes -r pip.txt
	$(RUN) -m pip install -r $(VENV)/direct.txt
	{ echo '# Every version of an install that was tested. Written by `make constraints`; not edited by hand.'; \
	  $(RUN) -m pip freeze --all | grep -v '^pip==' | sed -E 's/\+[a-z0-9.]+$$//'; } > constraints.txt

# The build of PyTorch without CUDA is on no index that gives hashes: WHEEL is its file, as pip downloads it.
hashes:  ## after `make constraints`: write the hashes of what the container installs (WHEEL=the file of torch)
	$(RUN) -m tools.dependencies --write-hashes $(addprefix --wheel=,$(WHEEL))

clean:  ## remove the environment and caches; works, indexes and searches stay
	rm -rf $(VENV) node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

environment:
	$(call install,requirements.txt)

dev-environment:
	$(call install,requirements-dev.txt)

# Installs one list into the environment, unless just that is installed. An install that was killed leaves `unfinished`
# behind, and the next one starts from an empty environment; one that failed by itself is simply tried again.
define install
	@set -e; wanted=$$(cat pip.txt requirements.txt constraints.txt $(1) | cksum); \
	if $(RUN) -c '$(RECENT)' 2>/dev/null && [ "$$(cat $(VENV)/$(1).done 2>/dev/null)" = "$$wanted" ]; then exit 0; fi; \
	if [ -e $(VENV)/unfinished ] || ! $(RUN) -c 'import pip; $(RECENT)' 2>/dev/null; then \
		"$(PYTHON)" -c '$(RECENT)' 2>/dev/null || { \
			echo "RELiC Workbench needs Python 3.11 or later, and none was found. Install it, or say where it is:"; \
			echo "    make $(MAKECMDGOALS) PYTHON=/path/to/python3.11"; exit 1; }; \
		echo "Making a virtual environment in $(VENV) with $$("$(PYTHON)" --version)"; \
		rm -rf $(VENV); "$(PYTHON)" -m venv $(VENV); \
	fi; \
	touch $(VENV)/unfinished; \
	echo "Installing $(1); the first time this takes some minutes"; \
	{ $(RUN) -m pip install --require-hashes -r pip.txt && $(RUN) -m pip install -r $(1); } || { status=$$?; rm $(VENV)/unfinished; exit $$status; }; \
	rm $(VENV)/unfinished; echo "$$wanted" > $(VENV)/$(1).done
endef

# Tests drive a Chromium and a Caddy, and say so where there is none; Debian's are installed where that needs no password.
programs:
	@found() { command -v "$$1" >/dev/null; }; lacking=; \
	[ -n "$$CHROMIUM" ] || found chromium || found chromium-browser || found google-chrome || lacking=chromium; \
	found caddy || lacking="$$lacking caddy"; [ -n "$$lacking" ] || exit 0; \
	if ! found apt-get; then as=none; elif [ "$$(id -u)" = 0 ]; then as=; \
	elif sudo -n true 2>/dev/null; then as=sudo; else as=none; fi; \
	[ "$$as" != none ] && $$as apt-get update -qq && $$as apt-get install -y -qq --no-install-recommends $$lacking \
	|| echo "Not here, and could not be installed: $$lacking. The tests that need it will be skipped."

axe:
	@if command -v npm >/dev/null; then $(MAKE) -s node_modules/.package-lock.json; \
	else echo "No npm: the accessibility checks will be skipped."; fi

node_modules/.package-lock.json: package.json package-lock.json
	npm ci --no-fund --no-audit
