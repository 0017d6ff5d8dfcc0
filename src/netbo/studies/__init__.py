"""Persistent studies: stored trials that many workers share and any of them can resume."""

from netbo.errors import BudgetError, StudyError, StudyFileError
from netbo.studies.definition import study_names
from netbo.studies.dispatch import Crew
from netbo.studies.evaluation import Evaluation, Evaluator
from netbo.studies.overview import StudyOverview, list_studies
from netbo.studies.records import Record, State, TrialRecord
from netbo.studies.repair import JournalRepair, repair_journal
from netbo.studies.resilience import Clock, SystemClock
from netbo.studies.settings import StudySettings
from netbo.studies.study import Study
from netbo.studies.worker import Work, WorkSummary, work

__all__ = [
    "BudgetError",
    "Clock",
    "Crew",
    "Evaluation",
    "Evaluator",
    "JournalRepair",
    "Record",
    "State",
    "Study",
    "StudyError",
    "StudyFileError",
    "StudyOverview",
    "StudySettings",
    "SystemClock",
    "TrialRecord",
    "Work",
    "WorkSummary",
    "list_studies",
    "repair_journal",
    "study_names",
    "work",
]
