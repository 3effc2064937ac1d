"""The examples in the docstrings are the seeds' printed numbers: they must print them."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import stats

MODULES = sorted(f"stats.{module.name}" for module in pkgutil.iter_modules(stats.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_print_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_package_has_examples():
    finder = doctest.DocTestFinder()
    examples = [e for name in MODULES for t in finder.find(importlib.import_module(name)) for e in t.examples]
    assert len(examples) >= 60
