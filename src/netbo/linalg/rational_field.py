"""Fields of fractional smoothness as sums of shifted operators: no power of an operator is ever formed.

In the unit of length 1/kappa, with lambda the operator and c = 1/s, a rational power is

    G_n = lambda^-n (constant + sum_i a_i / (lambda + c_i)),      a_i = weights_i c_i, the tail being c = 0,

and lambda^-n / (lambda + c) is the divided difference (-1)^n K^-1[1 (n times), 1 + c] of the inverse of K(s):
the corner of the inverse of a triangular block matrix of divided differences of K, solved from below. This
holds for every element; with hats K[1, 1 + c] is the mass C and all further differences are zero.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from netbo.arrays import FloatArray
from netbo.linalg.elements import Elements, hat_differences
from netbo.linalg.factor import BlockFactor, SelectedInverse, Topology
from netbo.linalg.field_noise import FieldNoise
from netbo.linalg.forms import apply_stiffness
from netbo.linalg.hyperbolic import hyperbolic_differences
from netbo.linalg.rational import RationalPower

ROUNDING = 1e-14  # relative, of a selected inverse


class ShiftedElements(Protocol):
    """Element matrices K(s) at shifted s, with what divided differences need."""

    def differences(self, shift: float, n: int) -> Elements:
        """K[1 (k times), 1 + shift] in columns k = 0..n; column 0 is K(1 + shift)."""


@dataclass(frozen=True)
class ShiftedHats:
    """Hat functions on cells of length kappa h: K is linear in s."""

    cells: FloatArray
    is_lumped: bool

    def differences(self, shift: float, n: int) -> Elements:
        """K(1 + shift), C, 0, 0, ..."""
        return hat_differences(self.cells, shift, n, lumped=self.is_lumped)


@dataclass(frozen=True)
class ShiftedHyperbolic:
    """The exact elements of cells of length kappa h."""

    cells: FloatArray

    def differences(self, shift: float, n: int) -> Elements:
        """Divided differences of the exact elements."""
        return hyperbolic_differences(self.cells, shift, n)


class RationalField:
    """The unit field with covariance G_n of a rational power, at the nodes of a mesh."""

    def __init__(
        self, topology: Topology, elements: ShiftedElements, power: RationalPower, robin: FloatArray
    ) -> None:
        self.topology, self.elements, self.power, self._robin = topology, elements, power, robin
        self._depth = max(power.whole + 1, 2)  # one more difference than n, for the derivative in kappa
        with np.errstate(over="ignore"):
            self._poles = [(w / s, 1 / s) for w, s in zip(power.weights, power.shifts, strict=True)]
        if power.tail:
            self._poles.append((power.tail, 0.0))

    def _factor(self, shift: float) -> BlockFactor:
        """K(1 + shift), with the differences of its elements."""
        return BlockFactor(self.topology, self.elements.differences(shift, self._depth), 1, None, self._robin)

    @cached_property
    def _unit(self) -> BlockFactor:
        return self._factor(0.0)

    @cached_property
    def _factors(self) -> list[BlockFactor]:
        return [self._factor(c) if c else self._unit for _, c in self._poles]

    def columns(self, loads: FloatArray, *, smoother: bool = False) -> list[FloatArray]:
        """G_n applied to vectors (r, N), [(r, N)]; with `smoother` also G_(n+1) = lambda^-1 G_n."""
        n, last = self.power.whole, self.power.whole + smoother
        v = np.zeros_like(loads)
        sources = [np.zeros_like(loads) for _ in range(last + 1)]  # sum_i a_i K[1 (k times), 1 + c_i] v_i
        for (a, _), factor in zip(self._poles, self._factors, strict=True):
            field = a * _solve(factor, loads)
            v += field
            for k in range(1, last + 1 if not self._is_linear else 1):
                self._apply(factor.elements, k, field, sources[k])
        if last:
            sources[1] += self.power.constant * loads
            if self._is_linear:
                self._apply(self._unit.elements, 1, v, sources[1])
        chain = {last: v}
        for j in range(last - 1, -1, -1):
            for k in range(j + 1, last):
                self._apply(self._unit.elements, k - j, chain[k], sources[last - j])
            chain[j] = -_solve(self._unit, sources[last - j])
        fields = [chain[last - n]] if n % 2 == 0 else [-chain[last - n]]
        return [*fields, chain[0] if (n + 1) % 2 == 0 else -chain[0]] if smoother else fields

    def _apply(self, elements: Elements, k: int, x: FloatArray, product: FloatArray) -> None:
        """Add the difference of column k applied to x (r, N) to the product."""
        difference = _column(elements, k)
        if difference is None:
            return
        flat = np.zeros(self.topology.n_vertices)
        for row, source in enumerate(x):
            product[row] += apply_stiffness(self.topology, difference, flat, source)[0]

    def steep(self, *, smoother: bool = False) -> "RationalField | None":
        """The terms with so large a shift that partial fractions would spoil the variance.

        They lose weight s^(n-1) times the rounding errors, which may be a tenth of the fit's error.
        """
        power, n = self.power, self.power.whole + smoother
        lost = ROUNDING * power.weights * power.shifts ** (n - 1)
        is_steep = lost > max(power.error / 10, ROUNDING)
        if not n or not is_steep.any():
            return None
        if n not in self._steep:
            weights, shifts = power.weights[is_steep], power.shifts[is_steep]
            part = replace(power, weights=weights, shifts=shifts, constant=0.0, tail=0.0)
            self._steep[n] = RationalField(self.topology, self.elements, part, self._robin)
        return self._steep[n]

    @cached_property
    def _steep(self) -> "dict[int, RationalField]":
        return {}

    def selected(self, *, smoother: bool = False) -> SelectedInverse:
        """Variances and covariances across cells of G_n, or of G_(n+1), without the `steep` terms.

        x^n x / (x + s) = sum_(j<n) (-s)^j x^(n-j) + (-s)^n x / (x + s); x^p is the block system of order p.
        """
        power, n = self.power, self.power.whole + smoother
        steep = self.steep(smoother=smoother)
        left_out = set() if steep is None else set(steep.power.shifts.tolist())
        orders = np.zeros(n + 2)
        orders[n], orders[n + 1] = power.constant, power.tail
        variances, neighbours = np.zeros(self.topology.n_nodes), np.zeros(self.topology.n_cells)
        for i, (w, s) in enumerate(zip(power.weights.tolist(), power.shifts.tolist(), strict=True)):
            if s in left_out:
                continue
            for j in range(n):
                orders[n - j] += w * (-s) ** j
            factor = self._poles[i][0] * (-s) ** n
            variances += factor * self._resolvents[i].variances
            neighbours += factor * self._resolvents[i].neighbours
        for p in range(1, n + 2):
            if orders[p]:
                variances += orders[p] * self._power(p).variances
                neighbours += orders[p] * self._power(p).neighbours
        return SelectedInverse(variances, neighbours)

    @cached_property
    def _resolvents(self) -> list[SelectedInverse]:
        return [factor.select() for factor in self._factors]

    @cached_property
    def _powers(self) -> dict[int, SelectedInverse]:
        return {}

    def _power(self, p: int) -> SelectedInverse:
        """Of the field lambda^-p."""
        if p not in self._powers:
            elements = self.elements.differences(0.0, p)
            self._powers[p] = BlockFactor(self.topology, elements, p, None, self._robin).select()
        return self._powers[p]

    @cached_property
    def has_paths(self) -> bool:
        """Whether `path` knows a way: for elements linear in s, and for all while n <= 1."""
        return self.power.whole <= 1 or self._is_linear

    @cached_property
    def _is_linear(self) -> bool:
        """Whether K[1, 1 + c] is one matrix for all c, and further differences are zero."""
        return _column(self._unit.elements, 2) is None

    @cached_property
    def _noises(self) -> list[FieldNoise]:
        """N(0, K(1 + c)) of every term if n is even, N(0, K[1, 1 + c]) if it is odd."""
        if self.power.whole % 2:
            return [self._difference_noise(factor.elements) for factor in self._factors]
        return [FieldNoise(self.topology, factor.elements, 1, self._robin) for factor in self._factors]

    def _difference_noise(self, elements: Elements) -> FieldNoise:
        difference = _column(elements, 1)
        assert difference is not None
        return FieldNoise(self.topology, difference, 1, np.zeros(self.topology.n_vertices))

    @cached_property
    def _unit_noise(self) -> FieldNoise:
        return FieldNoise(self.topology, self._unit.elements, 1, self._robin)

    @cached_property
    def _mass_noise(self) -> FieldNoise:
        return self._difference_noise(self._unit.elements)

    def _draw(self, noise: FieldNoise, rng: np.random.Generator, scale: float) -> FloatArray:
        x = np.zeros((self.topology.n_nodes, 1))
        noise.add(rng, scale, x)
        return x.T

    def path(self, rng: np.random.Generator) -> FloatArray:
        """One draw of the field at the nodes, (N,): the sum of one independent field a term.

        n even: K(1 + c)^-1 N(0, K(1 + c)); n odd: K(1 + c)^-1 (N(0, dK) + sqrt(c) dK K(1)^-1 N(0, K(1))) with
        dK = K[1, 1 + c]; then (K^-1 C)^q, n = 2 q or 2 q + 1.
        """
        steps, is_odd = divmod(self.power.whole, 2)
        field = np.zeros((1, self.topology.n_nodes))
        for (a, c), factor, noise in zip(self._poles, self._factors, self._noises, strict=True):
            load = self._draw(noise, rng, math.sqrt(a))
            if is_odd and c:
                rough = _solve(self._unit, self._draw(self._unit_noise, rng, math.sqrt(a * c)))
                self._apply(factor.elements, 1, rough, load)
            field += _solve(factor, load)
        root = math.sqrt(self.power.constant)
        if is_odd:
            field += _solve(self._unit, self._draw(self._unit_noise, rng, root))
        for step in range(steps):
            load = np.zeros_like(field)
            if step == 0 and not is_odd:
                load += self._draw(self._mass_noise, rng, root)
            self._apply(self._unit.elements, 1, field, load)
            field = _solve(self._unit, load)
        path: FloatArray = field[0]
        return path


def _solve(factor: BlockFactor, loads: FloatArray) -> FloatArray:
    """K^-1 applied to vectors (r, N)."""
    return factor.solve(loads[:, :, None].copy())[:, :, 0]


def _column(elements: Elements, k: int) -> Elements | None:
    """The elements of column k alone, None if they are zero."""
    off, row = elements.off[:, k : k + 1], elements.row[:, k : k + 1]
    if not (off.any() or row.any()):
        return None
    return replace(elements, off=np.ascontiguousarray(off), row=np.ascontiguousarray(row))
