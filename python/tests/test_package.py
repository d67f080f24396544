"""The package as it is installed."""

import dropcast


def test_it_has_a_version():
    assert dropcast.__version__[0].isdigit()
