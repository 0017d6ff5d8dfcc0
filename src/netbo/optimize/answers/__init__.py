"""Where the maximum may be: its distribution, its modes, and the list of stretches to search."""

from netbo.optimize.answers.maximizer import MaximizerSamples, default_draws
from netbo.optimize.answers.modes import Mode, modes
from netbo.optimize.answers.search_list import SearchList, Stretch, search_list

__all__ = ["MaximizerSamples", "Mode", "SearchList", "Stretch", "default_draws", "modes", "search_list"]
