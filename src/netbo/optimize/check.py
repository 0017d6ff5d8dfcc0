"""How well a model predicts each value from all others: leave-one-out, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.optimize.history import Trial
from netbo.posterior import Surrogate

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.5, 0.8, 0.95)
WILD = 0.01  # probability that any value of a right model is called wild


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Each value beside its prediction from all others; noise is part of the predicted spread."""

    id: IntArray  # trials
    value: FloatArray
    predicted: FloatArray
    std: FloatArray  # of the predicted measurement; infinite where nothing else was measured

    @property
    def residual(self) -> FloatArray:
        """Value minus prediction."""
        return self.value - self.predicted

    @property
    def standardized(self) -> FloatArray:
        """Residuals in predicted standard deviations: standard normal if the model is right."""
        is_known = np.isfinite(self.std)
        return np.divide(self.residual, self.std, out=np.zeros_like(self.value), where=is_known)

    @property
    def coverage(self) -> dict[float, float]:
        """Share of the values that can be predicted inside their central interval, by its level."""
        size = np.abs(self.standardized[np.isfinite(self.std)])
        limits = {level: NormalDist().inv_cdf((1 + level) / 2) for level in LEVELS}
        return {
            level: float(np.mean(size <= limit)) if len(size) else np.nan for level, limit in limits.items()
        }

    @property
    def is_wild(self) -> BoolArray:
        """Values so far off that a right model would show one in a hundred studies of this size."""
        n = max(len(self.value), 1)
        limit = NormalDist().inv_cdf(1 - WILD / (2 * n))
        return np.abs(self.standardized) > limit

    def table(self) -> pd.DataFrame:
        """One row a value."""
        import pandas as pd  # noqa: PLC0415 - a table is for people

        columns = {
            "value": self.value,
            "predicted": self.predicted,
            "std": self.std,
            "standardized": self.standardized,
            "wild": self.is_wild,
        }
        return pd.DataFrame(columns, index=pd.Index(self.id, name="id"))

    def __str__(self) -> str:
        if not np.isfinite(self.std).any():
            return f"leave-one-out over {len(self.value)} values: too few to predict one from the others"
        shares = ", ".join(f"{share:.0%} within {level:.0%}" for level, share in self.coverage.items())
        wild = ", ".join(str(i) for i in self.id[self.is_wild])
        ending = f"; wild: {wild}" if wild else ""
        return f"leave-one-out over {len(self.value)} values: {shares}{ending}"


def check(surrogate: Surrogate, trials: Sequence[Trial]) -> Check:
    """Leave-one-out predictions of the observed trials, in the order of the surrogate's observations."""
    left_out = surrogate.leave_one_out()
    return Check(
        id=np.array([trial.id for trial in trials], dtype=np.int64),
        value=np.asarray(surrogate.observations.values),
        predicted=left_out.mean,
        std=np.sqrt(left_out.variance),
    )
