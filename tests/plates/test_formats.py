"""Numbers as text."""

import pytest

from plates.formats import FORMATS, formatted


def shown(value, name):
    return formatted(value, FORMATS[name]).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (220.32e-6, "time", "220.3 µs"),
        (44.065e-6, "time", "44.06 µs"),  # the nearest double lies below the tie
        (5.16832e-3, "time", "5.168 ms"),
        (999.96e-6, "time", "1.000 ms"),
        (0.31e-9, "time", "0.3100 ns"),
        (671088640, "bytes", "671.1 MB"),
        (1024, "bytes", "1.024 kB"),
        (5, "ratio", "5.00×"),
        (0.0908, "share", "9.08 %"),
        (0.9988, "share", "99.9 %"),
        (0.00774, "share", "0.774 %"),
        (0, "share", "0 %"),
        (1, "share", "100 %"),
        (2.125, "number", "2.13"),  # an exact tie is rounded up, as JavaScript does
        (33554432, "count", "32 Mi"),
        (33554433, "count", "33,554,433"),
        (4.1, "plain", "4.1"),
    ],
)
def test_a_number_is_shown_in_its_largest_unit_with_its_digits(value, name, text):
    assert shown(value, name) == text


def test_the_micro_sign_has_one_code_point():
    assert FORMATS["time"].units[2][0] == "\N{MICRO SIGN}s"
