"""Settings that must be in place before any library is imported."""

import os

# pytest-xdist fills the cores; the tables of tests are too small for threads to pay.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
