"""Workers from the shell: one here, or several processes of our own."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from netbo.cli.objective import load_objective
from netbo.cli.study_door import Door, Interrupted, NothingLeft
from netbo.cli.study_opening import open_study, storage_of
from netbo.cli.study_rows import in_short, in_words, places, print_json
from netbo.cli.study_status import answer_lines, answers
from netbo.studies import Record, Study, Work
from netbo.studies.worker import INTERRUPTED


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker is to do; a fresh process can be told it."""

    door: Door
    objective: str  # module:function
    budget: int
    timeout: float | None = None
    lease: float | None = None


def run_workers(job: Job, *, jobs: int = 1, worker: str | None = None) -> None:
    """Evaluate until the budget of the study is spent, with one worker here or several processes."""
    try:
        with ended_by_sigterm():
            load_objective(job.objective)  # wrong input is found before anything is started
            study = open_study(job.door, worker)
            if jobs == 1:
                done = work_here(job, study)
            else:
                from netbo.cli.study_processes import work_in_processes  # noqa: PLC0415 - it imports this file

                same = Door(storage_of(job.door), study.name, job.door.as_json)
                done = work_in_processes(
                    Job(same, job.objective, job.budget, job.timeout, job.lease), study, jobs
                )
            _print(job, study, done)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; all that was told is in the study") from None


def work_here(job: Job, study: Study) -> Work:
    """Evaluate in this process."""
    options: dict[str, Any] = {} if job.lease is None else {"lease": job.lease}
    said = [] if job.door.as_json else [_say]
    return study.work(
        load_objective(job.objective), budget=job.budget, timeout=job.timeout, callbacks=said, **options
    )


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """SIGTERM does what Ctrl-C does, before and after the work itself, which has its own way with both."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say(study: Study, record: Record) -> None:
    """A line for each evaluation."""
    if record.point is None:
        return  # for the types: what was evaluated has a place
    place = in_words(places(study.network, [record.point])[0], study.graph.unit)
    came = f"failed: {in_short(record.note)}" if record.value is None else f"{record.value:.6g}"
    click.echo(f"trial {record.id}  {place}: {came}")


def _print(job: Job, study: Study, done: Work) -> None:
    was_interrupted = done.stopped == INTERRUPTED
    known = {} if was_interrupted else answers(study)  # who interrupts does not want to wait for a model
    told = study.n_told
    if job.door.as_json:
        print_json({
            "study": study.name, "told": done.told, "failed": done.failed, "stopped": done.stopped,
            "evaluations": told, "unit": study.graph.unit, **known,
        })  # fmt: skip
    else:
        click.echo(
            f"told         {done.told} values and {done.failed} failures; the study has {told} evaluations"
        )
        for line in answer_lines(known, study.graph.unit) if known else []:
            click.echo(line)
        click.echo(f"stopped      {' '.join(done.stopped.split())}")
    if was_interrupted:
        raise KeyboardInterrupt
    if told < job.budget:
        raise NothingLeft(f"{told} of {job.budget} evaluations are made: {done.stopped}")
