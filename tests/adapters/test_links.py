import numpy as np
import pytest

from netbo.adapters import Links
from netbo.errors import NetworkError


def links(**changed):
    rows = {"source": "a test", "ids": ["a", "b"], "tails": [0, 1], "heads": [1, 2], "lengths": [1.0, 2.0]}
    return Links(**(rows | changed))


def test_lengths_become_an_array_and_may_be_missing():
    made = links(lengths=[1, np.nan])

    assert made.n_links == 2
    assert made.lengths.dtype == np.float64


def test_an_id_that_repeats_is_named():
    with pytest.raises(NetworkError, match="ids must be unique, got 'a' 2 times in a test"):
        links(ids=["a", "a"])


def test_ids_must_be_hashable():
    with pytest.raises(NetworkError, match=r"ids must be hashable, got \['a'\]"):
        links(ids=[["a"], ["b"]])


def test_a_source_without_links_is_refused():
    with pytest.raises(NetworkError, match="at least one link, got none in a test"):
        links(ids=[], tails=[], heads=[], lengths=[])


def test_columns_have_one_row_a_link():
    with pytest.raises(NetworkError, match="got 3 tails for 2 ids"):
        links(tails=[0, 1, 2])
    with pytest.raises(NetworkError, match="got 1 attribute 'name' for 2 ids"):
        links(attributes={"name": ["x"]})


def test_both_ends_are_named_or_drawn():
    with pytest.raises(NetworkError, match="both tails and heads or neither"):
        links(heads=None)
    with pytest.raises(NetworkError, match="vertex ids or curves, got neither"):
        links(tails=None, heads=None)


@pytest.mark.parametrize("length", [-1.0, np.inf])
def test_impossible_lengths_name_their_link(length):
    with pytest.raises(NetworkError, match=f"got {length} on link 'b'"):
        links(lengths=[1.0, length])


def test_lengths_must_be_numbers():
    with pytest.raises(NetworkError, match="lengths must be numbers"):
        links(lengths=["long", "short"])


def test_aliases_stand_for_links():
    with pytest.raises(NetworkError, match="an alias must stand for a link, got 'c' for 'd'"):
        links(aliases={"c": ("d", False)})
    with pytest.raises(NetworkError, match="an alias must be no link's own id, got 'a'"):
        links(aliases={"a": ("b", False)})
