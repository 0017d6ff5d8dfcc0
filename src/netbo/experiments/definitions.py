"""The experiments by name: each has a default spec, a quick one, and the cells of a spec."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from netbo.errors import ParameterError
from netbo.experiments import methods as grid
from netbo.experiments.cell import Cell, draw_sources
from netbo.experiments.spec import EUCLIDEAN, MATCHED, SPDE, Spec, read_toml
from netbo.problems import Placement

HORIZON = 40  # of all methods beyond the paper's: differences are to be theirs
SOURCES = 8  # results differ by source; the paper shows one and does not say which
EXACT = 0.0  # the noise of the log-posterior, which is computed, not measured


@dataclass(frozen=True, slots=True)
class Definition:
    """An experiment: its name, the full spec, a short one, and the cells that a spec asks for."""

    name: str
    default: Spec
    quick: Spec  # to see that it works
    cells: Callable[[Spec], list[Cell]]

    def default_spec(self) -> Spec:
        """The full experiment."""
        return self.default

    def quick_spec(self) -> Spec:
        """A short one, to see that it works."""
        return self.quick


def _no_cells(spec: Spec) -> list[Cell]:
    """None: nothing is optimized."""
    return []


def _benchmark_cells(spec: Spec) -> list[Cell]:
    """Every function with every kernel and acquisition, and the baselines."""
    methods = grid.paper_methods(spec)
    return [
        grid.cell(spec, setting, method) for setting in grid.rectangle_settings(spec) for method in methods
    ]


def _inversion_cells(spec: Spec) -> list[Cell]:
    """Every source with every kernel and acquisition, and the baselines; R = 0, as nothing is measured."""
    methods = grid.paper_methods(spec, noise_bound=0.0)
    return [grid.cell(spec, setting, method) for setting in source_settings(spec) for method in methods]


def source_settings(spec: Spec) -> list[grid.Setting]:
    """All sources on all meshes with all sizes of the design."""
    return [
        grid.Setting(pose, n_init, EXACT)
        for max_cell in spec.max_cell or ()
        for pose in draw_sources(spec.sources or 1, max_cell)
        for n_init in spec.n_init or ()
    ]


def _sensitivity_b_cells(spec: Spec) -> list[Cell]:
    """Every function with every kernel, acquisition and b; baselines once, as they do not know b."""
    b = spec.b or (0.0,)
    methods = [method for method in grid.paper_methods(spec, b=b) if _is_at_first_b(method, b[0])]
    return [
        grid.cell(spec, setting, method) for setting in grid.rectangle_settings(spec) for method in methods
    ]


def _is_at_first_b(method: grid.Method, first: float) -> bool:
    """The matched Euclidean kernel is a baseline: at the first b only."""
    return method.kernel != MATCHED or method.b == first


def _sensitivity_init_cells(spec: Spec) -> list[Cell]:
    """Every size and mesh with every kernel and acquisition, and the baselines."""
    methods = grid.paper_methods(spec)
    middle = tuple(sizes[len(sizes) // 2] for sizes in (spec.n_init or (), spec.max_cell or ()))
    return [
        grid.cell(spec, setting, method)
        for setting in grid.rectangle_settings(spec)
        for method in methods
        if _is_in_the_middle(method, setting, middle)
    ]


def _is_in_the_middle(method: grid.Method, setting: grid.Setting, middle: tuple[float, ...]) -> bool:
    """The matched Euclidean kernel is a baseline: with the middle design and mesh only, as it costs most."""
    return method.kernel != MATCHED or (setting.n_init, setting.pose.max_cell) == middle


def _placement_cells(spec: Spec) -> list[Cell]:
    """Both presets with every acquisition, Euclidean twins and baselines at every placement."""
    ours = [grid.calibrated_method(acquisition) for acquisition in spec.acquisitions or grid.ACQUISITIONS]
    methods = [*grid.paper_methods(spec), *ours, grid.calibrated_euclidean()]
    return [
        grid.cell(spec, setting, method) for setting in grid.rectangle_settings(spec) for method in methods
    ]


def _beyond_cells(spec: Spec) -> list[Cell]:
    """The paper's preset, the calibrated one, and what may be changed about it; baselines."""
    ours = [grid.calibrated_method(), *grid.calibrated_variants(), grid.calibrated_euclidean()]
    on_rectangle = [
        grid.cell(spec, setting, method)
        for setting in grid.rectangle_settings(spec)
        for method in [*grid.paper_methods(spec), *ours]
    ]
    exact = replace(spec, noise=grid.NUGGET)  # values are computed there: R = 0 and a nugget
    on_new_york = [
        grid.cell(exact, setting, method)
        for setting in source_settings(spec)
        for method in [*grid.paper_methods(spec, noise_bound=0.0), *ours]
    ]
    return [*on_rectangle, *on_new_york]


_MESH = (0.25,)  # of the paper
_COARSE = (0.5,)


def _shortened(spec: Spec) -> Spec:
    """Two short repetitions on a coarse mesh."""
    return replace(
        spec,
        quick=True,
        repetitions=2,
        max_cell=_COARSE,
        horizon_ucb=grid.QUICK_HORIZON,
        horizon_ts=grid.QUICK_HORIZON,
    )


# The network of New York and a draw of the prior on it (fig:metric graph example): pictures only.
NETWORK = Definition(
    name="network",
    default=Spec("network", repetitions=1, max_cell=_MESH),  # the seed draws the sample of the prior
    quick=Spec("network", quick=True, repetitions=1, max_cell=_COARSE),
    cells=_no_cells,
)

_PICTURED = Spec(
    "objectives", repetitions=1, functions=grid.FUNCTIONS, placements=("gap-end",), max_cell=_MESH
)
# The three benchmark functions on the open rectangle (fig:true-benchmarks-openrectangle): pictures.
OBJECTIVES = Definition(
    name="objectives",
    default=_PICTURED,
    quick=replace(_PICTURED, quick=True, max_cell=_COARSE),
    cells=_no_cells,
)

# The paper's settings; the optimum at an end of the opening, where its tables come out.
_PAPER = Spec(
    "benchmarks", repetitions=60, functions=grid.FUNCTIONS, placements=("gap-end",), kernels=grid.KERNELS,
    acquisitions=grid.ACQUISITIONS, baselines=grid.BASELINES, n_init=(grid.N_INIT,), max_cell=_MESH,
    horizon_ucb=40, horizon_ts=60, tolerance=grid.PAPER_TOLERANCE, noise=grid.PAPER_NOISE,
)  # fmt: skip
# IGP-UCB and GP-TS on three functions (fig:benchmarks_IGP-UCB, fig:benchmarks_TS).
BENCHMARKS = Definition(
    name="benchmarks",
    default=_PAPER,
    quick=_shortened(_PAPER),
    cells=_benchmark_cells,
)

_SOURCES = Spec(
    "inversion", repetitions=50, sources=SOURCES, kernels=grid.KERNELS, acquisitions=grid.ACQUISITIONS,
    baselines=grid.BASELINES, n_init=(grid.N_INIT,), max_cell=_MESH, horizon_ucb=40, horizon_ts=40,
    tolerance=grid.PAPER_TOLERANCE, noise=grid.NUGGET,
)  # fmt: skip
# Where is the source? The log-posterior on New York, IGP-UCB and GP-TS (fig:ipbo-ts-tele).
INVERSION = Definition(
    name="inversion",
    default=_SOURCES,
    quick=replace(_shortened(_SOURCES), sources=2),
    cells=_inversion_cells,
)

# How much does the misspecification term matter (app:b-sensitivity)? Both tables and their figures.
SENSITIVITY_B = Definition(
    name="sensitivity-b",
    default=replace(BENCHMARKS.default, name="sensitivity-b", b=(0.0, 0.05, 0.1, 0.2, 0.5)),
    quick=replace(BENCHMARKS.quick, name="sensitivity-b", functions=("ackley",), b=(0.0, 0.5)),
    cells=_sensitivity_b_cells,
)

# How many initial measurements are needed on which mesh (app:init-sensitivity)?
SENSITIVITY_INIT = Definition(
    name="sensitivity-init",
    default=replace(
        BENCHMARKS.default, name="sensitivity-init", functions=("levy",), n_init=(1, 2, 4, 8, 10, 12, 16),
        max_cell=(0.5, 0.25, 0.15),
    ),
    quick=replace(
        BENCHMARKS.quick, name="sensitivity-init", functions=("levy",), n_init=(1, 8), max_cell=(1.0, 0.5)
    ),
    cells=_sensitivity_init_cells,
)  # fmt: skip

# Does it matter where the optimum sits? Five places, every algorithm, both presets: our own question.
PLACEMENT = Definition(
    name="placement",
    default=replace(
        BENCHMARKS.default, name="placement", repetitions=20,
        placements=tuple(placement.value for placement in Placement),
    ),
    quick=replace(
        BENCHMARKS.quick, name="placement", functions=("ackley",), placements=("gap-end", "interior"),
        kernels=(SPDE, EUCLIDEAN),
    ),
    cells=_placement_cells,
)  # fmt: skip

# What does each departure from the paper bring? All placements and many sources: our own question.
BEYOND = Definition(
    name="beyond",
    default=replace(PLACEMENT.default, name="beyond", sources=12, horizon_ts=HORIZON, horizon_ucb=HORIZON),
    quick=replace(PLACEMENT.quick, name="beyond", placements=("interior",), sources=1),
    cells=_beyond_cells,
)

DEFINITIONS: Mapping[str, Definition] = MappingProxyType(
    {
        each.name: each
        for each in (
            NETWORK, OBJECTIVES, BENCHMARKS, INVERSION, SENSITIVITY_B, SENSITIVITY_INIT, PLACEMENT, BEYOND,
        )
    }
)  # fmt: skip


def definition(name: str) -> Definition:
    """An experiment by its name."""
    if name not in DEFINITIONS:
        raise ParameterError(f"an experiment must be one of {', '.join(DEFINITIONS)} or all, got {name!r}")
    return DEFINITIONS[name]


def read_spec(path: Path) -> Spec:
    """The spec of a TOML file: the default of the experiment it names, with the fields it changes.

    quick = true starts from the quick spec instead.
    """
    values = read_toml(path)
    chosen = definition(values["name"])
    return (chosen.quick if values.get("quick") is True else chosen.default).updated(values)
