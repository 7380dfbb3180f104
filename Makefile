# `make demo` and `make test` do all set-up themselves, on a fresh machine with Python 3.11+.
PYTHON ?= python3
DEMO_ENV := .venv-demo
TEST_ENV := .venv
BENCH_ENV := .venv-bench
DOCS_ENV := .venv-docs
OLDEST_ENV := .venv-oldest
NEWEST_ENV := .venv-newest
INTEGRATIONS_ENV := .venv-integrations
SLICER_ENV := .venv-slicer

.PHONY: demo test test-slow bench docs reference gallery report lint scripts audit browser clean \
  test-oldest test-newest test-random test-integrations coverage

demo: $(DEMO_ENV)/ready
	$(DEMO_ENV)/bin/nho demo --out nho-demo

# More processes than four only import the same libraries again; each has one thread for BLAS.
# Processes that tests start by the hundred read compiled modules instead of compiling them.
# Kernels of processors newer than those of tests/pipeline/reference_bits.json round differently.
PYTEST = env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 OPENBLAS_CORETYPE=Haswell \
  NPY_DISABLE_CPU_FEATURES=X86_V4,AVX512_ICL,AVX512_SPR \
  $(TEST_ENV)/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test: $(TEST_ENV)/ready lint audit browser
	$(PYTEST)

# In another order each time; `-p randomly --randomly-seed=N` repeats the order of seed N.
test-random: $(TEST_ENV)/ready browser
	$(PYTEST) -p randomly

test-slow: $(TEST_ENV)/ready browser
	$(PYTEST) -m slow

# Which lines the tests reach, without those that only other processes reach: htmlcov/index.html.
# Without the search for leaks: the records of coverage itself grow.
coverage: $(TEST_ENV)/ready browser
	$(PYTEST) --cov=nho --cov-report=term --cov-report=html --ignore=tests/runtime/test_soak.py

# An hour; wants a machine that does nothing else. Results: docs/speed/.
BENCH = $(BENCH_ENV)/bin/nho bench --study speed --out docs
bench: $(BENCH_ENV)/ready
	$(BENCH) --name tools --sizes 5k,1k --repeats 1 --limit 200 --threads 1 --cases \
	  floor,default,default-warm,default-5,default-3,default-none,default-cloud,similarity+icp,tps,tps+meshmonk,tps+pycpd,rustcpd,biocpd,geomfum,pyfm,nricp
	$(BENCH) --name middle --sizes 25k,100k --repeats 1 --limit 150 --threads 1 \
	  --cases floor,default,similarity+icp,tps+meshmonk,rustcpd,biocpd
	$(BENCH) --name loop --sizes 1k,5k --repeats 2 --limit 300 --cases paper,torch-reference
	$(BENCH) --name large --sizes 25k,100k,250k,1M --repeats 1 --threads 1 --limit 300 \
	  --cases default,default-5,default-none,default-cloud
	$(BENCH) --name direct --sizes 50k --repeats 1 --cases default,default-direct
	$(BENCH) --name start_up --sizes 5k --repeats 5 --cases start-up
	$(BENCH) --name same_result --sizes 1k --cases same-result --seeds 0,1,2,3
	$(BENCH) --name anchors --sizes 10k --repeats 1 --cases many-anchors
	mv docs/speed/speed.png docs/images/speed.png
	mv docs/speed/anchors.png docs/images/speed_anchors.png

# The documentation as a site: open site/index.html.
docs: $(DOCS_ENV)/ready
	$(DOCS_ENV)/bin/python tools/docs_pages.py
	PYTHONPATH=tools $(DOCS_ENV)/bin/properdocs build --strict --config-file properdocs.yml

# Pages made from the code: commands, settings, gallery. `gallery` runs the examples as well.
reference: $(DOCS_ENV)/ready
	$(DOCS_ENV)/bin/python tools/reference.py
	$(DOCS_ENV)/bin/python tools/paper_tables.py

gallery: $(DOCS_ENV)/ready
	$(DOCS_ENV)/bin/python tools/reference.py --run

# The technical report as build/report.pdf.
report:
	@for tool in pandoc xelatex; do command -v $$tool >/dev/null 2>&1 \
	  || { echo "$$tool is missing: install pandoc and a LaTeX with xelatex"; exit 1; }; done
	mkdir -p build
	pandoc docs/report.md --from markdown --pdf-engine xelatex --resource-path docs \
	  --shift-heading-level-by -1 --variable geometry:margin=25mm --variable colorlinks \
	  --output build/report.pdf

lint: $(TEST_ENV)/ready scripts
	$(TEST_ENV)/bin/ruff check src tests tools examples integrations
	$(TEST_ENV)/bin/ruff check --preview --select PLW1514 src # every text names its encoding
	$(TEST_ENV)/bin/ruff format --check src tests tools examples integrations
	$(TEST_ENV)/bin/lint-imports
	$(TEST_ENV)/bin/mypy

# The scripts of the pages; eslint comes by npm. Without npm this is left out, but not in CI.
scripts:
	@if command -v npm >/dev/null 2>&1; then \
	  $(MAKE) --no-print-directory node_modules/ready && npx eslint src; \
	elif [ "$$CI" = true ]; then \
	  echo "npm is missing: the scripts of the pages cannot be linted"; exit 1; \
	else \
	  echo "no npm found: the scripts of the pages are not linted"; \
	fi

node_modules/ready: package.json package-lock.json
	npm ci --ignore-scripts --no-audit --no-fund
	touch $@

# Dangerous code, and known vulnerabilities of what is installed (said to be unknown if offline).
audit: $(TEST_ENV)/ready
	$(TEST_ENV)/bin/bandit --quiet --configfile pyproject.toml --recursive src tools
	$(TEST_ENV)/bin/python tools/audit.py

# The same code with the oldest versions that pyproject.toml allows, and with the newest there are.
# Only what needs neither torch, nor Dask, nor a browser, nor minutes.
CORE_TESTS = @tests/core.txt
CORE_NEEDS = pytest hypothesis psutil trimesh matplotlib

test-oldest: $(OLDEST_ENV)/ready
	CI= $(OLDEST_ENV)/bin/python -m pytest $(CORE_TESTS)

test-newest:
	$(PYTHON) -m venv --clear $(NEWEST_ENV)
	$(NEWEST_ENV)/bin/python -m pip install --quiet --editable . $(CORE_NEEDS)
	CI= $(NEWEST_ENV)/bin/python -m pytest $(CORE_TESTS)

# nho inside trimesh, PyVista, Open3D, vedo, meshio, JupyterLab, Blender and 3D Slicer.
test-integrations: $(INTEGRATIONS_ENV)/ready $(SLICER_ENV)/ready browser
	$(INTEGRATIONS_ENV)/bin/python -m pytest -m "" tests/integrations
	$(SLICER_ENV)/bin/python -m pytest -m "" tests/integrations/test_slicer.py \
	  tests/integrations/test_pictures.py

# The browser tests drive a system Chromium; on Debian it is installed if we may, elsewhere the
# tests skip and say so (in CI they fail instead).
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	       && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
	  || echo "no Chromium found: the browser tests will be skipped"

$(DEMO_ENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO_ENV)
	$(DEMO_ENV)/bin/python -m pip install --quiet --editable .
	touch $@

# torch comes first and pinned: a looser pin may fetch gigabytes of CUDA packages.
$(TEST_ENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(TEST_ENV)
	$(TEST_ENV)/bin/python -m pip install --quiet --constraint constraints.txt torch
	$(TEST_ENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[test,bench,docs]'
	touch $@

$(DOCS_ENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DOCS_ENV)
	$(DOCS_ENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[docs,bench]'
	touch $@

$(OLDEST_ENV)/ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv --clear $(OLDEST_ENV)
	$(OLDEST_ENV)/bin/python -m pip install --quiet --constraint constraints-oldest.txt --editable . $(CORE_NEEDS)
	touch $@

$(INTEGRATIONS_ENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(INTEGRATIONS_ENV)
	$(INTEGRATIONS_ENV)/bin/python -m pip install --quiet --editable '.[test-integrations]'
	touch $@

# Slicer brings a VTK of its own.
$(SLICER_ENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(SLICER_ENV)
	$(SLICER_ENV)/bin/python -m pip install --quiet --editable . $(CORE_NEEDS) 'slicer-core>=5.11,<6'
	touch $@

$(BENCH_ENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(BENCH_ENV)
	$(BENCH_ENV)/bin/python -m pip install --quiet --constraint constraints.txt torch
	$(BENCH_ENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[peers,bench]'
	touch $@

clean:
	rm -rf $(DEMO_ENV) $(TEST_ENV) $(BENCH_ENV) $(DOCS_ENV) $(OLDEST_ENV) $(NEWEST_ENV) $(INTEGRATIONS_ENV) $(SLICER_ENV) site nho-demo .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov node_modules
