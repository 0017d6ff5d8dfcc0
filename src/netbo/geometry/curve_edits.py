"""Drawn curves after their edges are chosen, divided or joined."""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.geometry.curves import Curves
from netbo.geometry.packed import ranges, row_starts, rows_of


def pick_curves(curves: Curves, edges: IntArray) -> Curves:
    """Curves of some edges."""
    counts = np.diff(curves.starts)[edges]
    corners = ranges(curves.starts[edges], counts)
    return Curves(curves.coordinates[corners], row_starts(counts), curves.fractions[corners])


def snap_curves(curves: Curves, tails: FloatArray, heads: FloatArray) -> Curves:
    """Curves with their ends moved to the given places; corners between stay, and so do the fractions."""
    coordinates = curves.coordinates.copy()
    coordinates[curves.starts[:-1]], coordinates[curves.starts[1:] - 1] = tails, heads
    return Curves(coordinates, curves.starts, curves.fractions)


def divide_curves(curves: Curves, edge: IntArray, fraction: FloatArray) -> Curves:
    """Curves of the pieces between cuts, which are sorted by edge and fraction and lie inside the edges."""
    corner = curves.segments_at(edge, fraction)
    places = curves.places(edge, fraction)
    before = np.repeat(corner + 1, 2)  # a cut is the end of one piece and the start of the next
    coordinates = np.insert(curves.coordinates, before, np.repeat(places, 2, axis=0), axis=0)
    fractions = np.insert(curves.fractions, before, np.repeat(fraction, 2))
    n_cuts = np.bincount(edge, minlength=len(curves))
    starts = np.sort(
        np.concatenate([curves.starts + 2 * row_starts(n_cuts), corner + 2 + 2 * np.arange(len(edge))])
    )
    first, last = fractions[starts[:-1]], fractions[starts[1:] - 1]
    rows = rows_of(starts)
    rescaled = np.clip((fractions - first[rows]) / (last - first)[rows], 0.0, 1.0)
    return Curves(coordinates, starts, rescaled)


def join_curves(
    curves: Curves,
    edges: IntArray,
    is_reversed: IntArray,
    begin: FloatArray,
    end: FloatArray,
    chain: IntArray,
) -> Curves:
    """Curves of chains of edges.

    The edges come chain by chain, each in the order in which its chain runs through them; `begin` and `end`
    are the fractions of the chain at the start and the stop of each edge, `chain` the number of its chain.
    """
    first, counts = curves.starts[edges], np.diff(curves.starts)[edges]
    step = 1 - 2 * is_reversed
    corners = ranges(np.where(is_reversed, first + counts - 1, first), counts, step=step)
    entry = np.repeat(np.arange(len(edges)), counts)
    along = np.where(is_reversed[entry], 1 - curves.fractions[corners], curves.fractions[corners])
    fractions = begin[entry] + along * (end - begin)[entry]
    is_kept = np.ones(len(corners), dtype=np.bool_)
    is_inner = np.concatenate([[False], np.diff(chain) == 0])
    is_kept[row_starts(counts)[:-1][is_inner]] = False  # the corner where two edges meet is already there
    n_corners = np.bincount(chain[entry][is_kept])
    return Curves(curves.coordinates[corners][is_kept], row_starts(n_corners), fractions[is_kept])
