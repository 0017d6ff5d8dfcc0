import math

import pytest

from netbo.errors import BaseError
from netbo.optional import MissingPackageError, require


def test_an_installed_package_is_returned():
    assert require("math", extra="none", purpose="counting") is math


def test_a_missing_package_names_its_extra():
    with pytest.raises(
        MissingPackageError,
        match=r"drawing maps needs no_such_package, got .*; install the extra 'maps': pip .*'netbo\[maps\]",
    ) as caught:
        require("no_such_package", extra="maps", purpose="drawing maps")

    assert isinstance(caught.value, BaseError)
    assert isinstance(caught.value, ImportError)
