"""Colours and sizes that all pictures share; the maps keep their order for colour-blind readers."""

from typing import Final

VALUE_MAP: Final = "viridis"  # of means, samples and values
SPREAD_MAP: Final = "magma_r"  # of standard deviations: pale where the field is known
SCORE_MAP: Final = "cividis"  # of acquisitions
PROBABILITY_MAP: Final = "plasma_r"  # of where the maximum may be: dark where it is likely

INK: Final = "#22272e"  # outlines, text
QUIET: Final = "#8b949e"  # networks without a field, vertices, guides
FAINT: Final = "#d0d7de"  # networks beneath stretches
MEAN: Final = "#21618c"  # line of a profile's mean
BAND: Final = "#aed6f1"  # its band
PAPER: Final = "white"  # faces of markers
FOUND: Final = "#c0392b"  # the recommended place
NEXT: Final = "#56b4e9"  # places to measure next

NETWORK_WIDTH: Final = 1.4  # points, as all sizes below
FIELD_WIDTH: Final = 4.0
LEAST_WIDTH: Final = 0.4
STRETCH_WIDTH: Final = 2.5  # of stretches, at least: few on a large network must be seen
CASING: Final = 1.2  # by how much the outline of a field is wider: pale colours need an edge on white paper
VERTEX_SIZE: Final = 3.0  # diameter
POINT_SIZE: Final = 6.0  # diameter
SMALL_TEXT: Final = 8.0
ID_OFFSET: Final = 10.0  # of an edge id from its edge: beside a field of the usual width

FIGURE_WIDTH: Final = 8.0  # inches, of a figure made for one network
FIGURE_HEIGHTS: Final = (1.6, 8.0)  # inches, least and most: a long thin network keeps room to be read

MOST_VERTICES: Final = 1_000  # drawn as dots unless asked for: more would hide the edges
MOST_VECTORS: Final = 5_000  # lines of a PDF; more are stored as an image

BEHIND, ON, ABOVE, TOP = 1.0, 2.0, 3.0, 4.0  # drawing order: casing, field, markers, text
