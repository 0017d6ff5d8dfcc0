"""
Comparing methods
=================

Which way to search suits a kind of problem? ``netbo.compare`` runs ways against each other on problems with
known maxima, paired by seed. Two problems and three seeds, as here, are far too few to judge by: the
leaderboard has sixty problems and ten seeds.
"""

import matplotlib.pyplot as plt

import netbo

ways = {
    "default": {},
    "paper, Euclidean": {"preset": "paper-euclidean"},
    "random": {"acquisition": "random"},
}
problems = ["tree-40/narrow-bump", "river/plume"]
found = netbo.compare(ways, problems, repetitions=3, budget=30)
board = found.leaderboard()
print(board[["method", "rank", "reached", "evaluations"]].to_string(index=False))

# %%
# Regret of every way over the number of evaluations.

found.plot()
plt.show()
