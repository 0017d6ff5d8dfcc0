import math
from importlib.metadata import PackageNotFoundError

import pytest

from netbo.errors import BaseError
from netbo.optional import MissingPackageError, require


def test_an_installed_package_is_returned():
    assert require("math", extra="none", purpose="counting") is math


def test_a_missing_package_names_its_extra():
    with pytest.raises(
        MissingPackageError,
        match=r"drawing maps needs no_such_package, got .*; install the extra 'maps': pip install no_such",
    ) as caught:
        require("no_such_package", extra="maps", purpose="drawing maps")

    assert isinstance(caught.value, BaseError)
    assert isinstance(caught.value, ImportError)


def test_the_advice_is_what_the_extra_brings():
    """Netbo is on no index: its extra cannot be installed by name, its packages can."""
    with pytest.raises(MissingPackageError, match=r"'paper': pip install 'pyarrow>=\d+' 'topohub>=[\d.]+'$"):
        require("no_such_package", extra="paper", purpose="writing Parquet")


def test_without_an_installed_netbo_the_package_itself_is_advised(monkeypatch):
    def requires(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("netbo.optional.requires", requires)
    with pytest.raises(MissingPackageError, match=r"pip install no_such_package$"):
        require("no_such_package", extra="paper", purpose="writing Parquet")
