"""Packages that tests need."""

import importlib
import os

import pytest


def needed(name):
    """The package. Without it tests are skipped, but in CI they fail."""
    if os.environ.get("CI"):
        return importlib.import_module(name)
    return pytest.importorskip(name)
