"""Of the package, and the dated version of the API that its types describe."""

VERSION = "0.1.0"
API_VERSION = "2026-11-15"
