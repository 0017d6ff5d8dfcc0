"""Studies that survive: persistent, shared, restartable."""

from netbo.errors import BudgetError, StudyError, StudyFileError
from netbo.studies.definition import study_names
from netbo.studies.evaluation import Evaluation, Evaluator
from netbo.studies.records import Record, State
from netbo.studies.resilience import Clock, SystemClock
from netbo.studies.settings import StudySettings
from netbo.studies.study import Crew, Study
from netbo.studies.worker import Work, work

__all__ = [
    "BudgetError",
    "Clock",
    "Crew",
    "Evaluation",
    "Evaluator",
    "Record",
    "State",
    "Study",
    "StudyError",
    "StudyFileError",
    "StudySettings",
    "SystemClock",
    "Work",
    "study_names",
    "work",
]
