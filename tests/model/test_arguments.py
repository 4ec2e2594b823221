"""Nothing that the ranges admit gives NaN, infinity or a negative number."""

import inspect

import numpy as np
import pytest

from model import cost
from model.arguments import RANGES

FORMULAS = [
    formula
    for _, formula in inspect.getmembers(cost, inspect.isfunction)
    if formula.__module__ == cost.__name__ and hasattr(formula, "__wrapped__")
]


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda it: it.__name__)
def test_at_every_corner_of_its_ranges_a_formula_is_finite_and_not_negative(formula):
    names = list(inspect.signature(formula).parameters)
    corners = np.meshgrid(*[[RANGES[name].low, RANGES[name].high] for name in names])
    values = formula(*corners)
    assert np.isfinite(values).all()
    assert (values >= 0).all()


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda it: it.__name__)
def test_a_formula_says_what_it_returns_and_each_argument_has_a_range(formula):
    assert formula.__doc__.startswith("Return ")
    assert set(inspect.signature(formula).parameters) <= set(RANGES)
