"""What came of trials, and what is said of them later."""

from netbo.cli.study_asking import print_trial
from netbo.cli.study_door import Door
from netbo.cli.study_opening import number_of, open_study, place_of, trial_of
from netbo.optimize.arguments import FAILED


def tell_value(
    door: Door,
    trial: str,
    value: str,
    *,
    noise: float | None = None,
    at: tuple[str, str] | None = None,
    note: str = "",
) -> None:
    """Record a value, on the disk before anything is printed."""
    number, told = trial_of(trial), FAILED if value == FAILED else number_of(value, "a value")
    study = open_study(door)
    place = None if at is None else place_of(study, *at)
    print_trial(door, study, study.tell(number, told, noise, place, note=note))


def fail_trial(door: Door, trial: str, note: str) -> None:
    """Record that there is no value to be had."""
    number, study = trial_of(trial), open_study(door)
    print_trial(door, study, study.tell(number, FAILED, note=note))


def correct_value(door: Door, trial: str, value: str, noise: float | None) -> None:
    """Replace a value."""
    number, told = trial_of(trial), number_of(value, "a value")
    study = open_study(door)
    study.correct(number, told, noise)
    print_trial(door, study, number)


def change_trial(door: Door, trial: str, change: str) -> None:
    """Cancel, release or withdraw a trial."""
    number, study = trial_of(trial), open_study(door)
    {"cancel": study.cancel, "release": study.release, "withdraw": study.withdraw}[change](number)
    print_trial(door, study, number)


def note_trial(door: Door, trial: str, text: str) -> None:
    """Say something of a trial."""
    number, study = trial_of(trial), open_study(door)
    study.note(number, text)
    print_trial(door, study, number)
