"""What is known so far: the answers of an optimizer, from the trials as they are in the storage now."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from netbo.optimize import Check, Mode, Optimizer, SearchList, Summary
from netbo.optimize.optimizer import Best, Recommendation
from netbo.posterior import Surrogate
from netbo.studies.records import Record
from netbo.studies.table import trials_table

if TYPE_CHECKING:
    import pandas as pd


class Answers(ABC):
    """Answers of whatever has an optimizer and records; ids are the numbers of trials."""

    @property
    @abstractmethod
    def optimizer(self) -> Optimizer:
        """An optimizer with the trials as they are now."""

    @property
    @abstractmethod
    def records(self) -> list[Record]:
        """All trials."""

    @property
    def trials(self) -> pd.DataFrame:
        """All trials as a table."""
        return trials_table(self.records)

    @property
    def posterior(self) -> Surrogate:
        """The objective given the observations, in their own unit and direction."""
        return self.optimizer.posterior

    def best(self) -> Best:
        """The best observation."""
        return self.optimizer.best()

    def recommend(self) -> Recommendation:
        """The candidate with the best posterior mean."""
        return self.optimizer.recommend()

    def modes(
        self, k: int = 3, separation: float | None = None, *, level: float = 0.95, draws: int | None = None
    ) -> list[Mode]:
        """Up to k separate places where the best value may be, each with its probability."""
        return self.optimizer.modes(k, separation, level=level, draws=draws)

    def search_list(self, mass: float = 0.8, *, draws: int | None = None) -> SearchList:
        """The shortest set of stretches that holds `mass` of the probability of the best value."""
        return self.optimizer.search_list(mass, draws=draws)

    def check(self) -> Check:
        """How well the model predicts each value from all others."""
        return self.optimizer.check()

    def summary(self) -> Summary:
        """What is known and how far it can be trusted, to be printed."""
        return self.optimizer.summary()
