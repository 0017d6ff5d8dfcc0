"""
An Optuna sampler
=================

A place on a network as a variable of Optuna, beside other variables. ``NetworkSampler`` chooses edge and
position together by a model on the network; what it does not know, such as a pump's speed, goes to another
sampler of Optuna. To the model the speed is noise, whose size it learns.
"""

import matplotlib.pyplot as plt
import numpy as np
import optuna

import netbo
from netbo.integrations.optuna import NetworkSampler

optuna.logging.set_verbosity(optuna.logging.WARNING)
streets = netbo.grid(4, 5)
best_place = streets.points([17], fraction=0.5)
sampler = NetworkSampler(streets, seed=0, independent_sampler=optuna.samplers.TPESampler(seed=0))


def objective(trial: optuna.Trial) -> float:
    """Best at one place, and at a speed of 0.7."""
    place = sampler.suggest(trial)
    speed = trial.suggest_float("speed", 0.0, 1.0)
    away = streets.distance(netbo.Points.at(place), best_place)[0, 0]
    return float(np.exp(-away) - (speed - 0.7) ** 2)


study = optuna.create_study(direction="maximize", sampler=sampler)
study.optimize(objective, n_trials=100)
found = sampler.point(study.best_trial)
off = float(streets.distance(netbo.Points.at(found), best_place)[0, 0])
speed = study.best_params["speed"]
print(f"best {study.best_value:.3f} at edge {found.edge_id}, {off:.3f} off; speed {speed:.2f}")

# %%
# Everything of Optuna works as ever: its storages, its dashboard, its tables.

values = study.trials_dataframe()["value"]
figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.plot(values, "o", color="0.6", markersize=4, label="trials")
ax.step(values.index, values.cummax(), where="post", color="black", label="best so far")
ax.set_xlabel("trial")
ax.set_ylabel("value")
ax.legend(frameon=False)
plt.show()
