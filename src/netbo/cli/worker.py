"""Commands that evaluate a function for a study: a worker here, or several worker processes."""

import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

import click

from netbo.cli.app import Ending, Interrupted, NothingLeft
from netbo.cli.options import (
    COUNT,
    SECONDS,
    StudyRef,
    add_options,
    load_objective,
    objective_option,
    study_command,
    study_options,
)
from netbo.cli.output import (
    address_rows,
    answer_lines,
    best_and_recommended,
    describe_point,
    one_line,
    print_json,
)
from netbo.errors import BaseError, ParameterError
from netbo.optimize.evaluation import end_with_parent, one_thread_per_worker, only_failures
from netbo.studies import State, Study, TrialRecord, WorkSummary
from netbo.studies.worker import INTERRUPTED


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker evaluates; plain enough to be sent to another process."""

    ref: StudyRef
    objective: str  # module:function
    budget: int
    timeout: float | None = None
    lease: float | None = None


objective_options = add_options(
    objective_option,
    click.option("--budget", required=True, type=COUNT, help="Evaluations of the study in all, by anybody."),
)
time_options = add_options(
    click.option("--timeout", type=SECONDS, help="Seconds for one evaluation, then it has failed."),
    click.option("--lease", type=SECONDS, help="Seconds after which a silent worker is taken for dead; 60."),
)


@study_command()
@objective_options
@click.option("--jobs", type=COUNT, default=1, show_default=True, help="Worker processes.")
@time_options
@study_options
def run(jobs: int, **job: Any) -> None:
    """Evaluate a function where the study asks, until its budget is spent.

    An evaluation that raises, hangs or gives no finite number has failed, with the reason as its note. A
    function that only fails is given up after five times, or as many as the initial design has places. Ctrl-C
    and SIGTERM lose nothing: run it again to go on.
    """
    _evaluate(Job(**job), jobs=jobs)


@study_command()
@objective_options
@time_options
@click.option("--worker", help="A name for this worker, unlike all others; by default made up.")
@study_options
def worker(worker: str | None, **job: Any) -> None:
    """Join a shared study from this machine and work until the budget is spent by all together.

    Start as many as you like, wherever the storage can be reached. If one dies, the next who asks gets its
    place once its lease has run out.
    """
    _evaluate(Job(**job), worker=worker)


def _evaluate(job: Job, *, jobs: int = 1, worker: str | None = None) -> None:
    """Evaluate until the budget of the study is spent, with one worker here or several processes."""
    try:
        with interrupted_by_sigterm():
            load_objective(job.objective)  # wrong input is found before anything is started
            study = job.ref.open(worker)
            if jobs == 1:
                done = work_here(job, study)
            else:
                same = StudyRef(job.ref.location, study.name, job.ref.as_json)
                done = _work_in_processes(replace(job, ref=same), study, jobs)
            _print(job, study, done)
    except KeyboardInterrupt:
        raise Interrupted("interrupted; all that was told is in the study") from None


def work_here(job: Job, study: Study) -> WorkSummary:
    """Evaluate in this process."""
    options: dict[str, Any] = {} if job.lease is None else {"lease": job.lease}
    callbacks = [] if job.ref.as_json else [_print_evaluation]
    return study.work(
        load_objective(job.objective), budget=job.budget, timeout=job.timeout, callbacks=callbacks, **options
    )


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does, before and after `Study.work`, which handles both itself."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print_evaluation(study: Study, record: TrialRecord) -> None:
    if record.point is None:
        return  # for the types: what was evaluated has a point
    where = describe_point(address_rows(study.network, [record.point])[0], study.network)
    outcome = f"failed: {one_line(record.note)}" if record.value is None else f"{record.value:.6g}"
    click.echo(f"trial {record.id}  {where}: {outcome}")


def _print(job: Job, study: Study, done: WorkSummary) -> None:
    """Print the outcome; the exit code says whether the budget is spent."""
    was_interrupted = done.stopped == INTERRUPTED
    known = {} if was_interrupted else best_and_recommended(study)  # interrupted: do not wait for a model
    told = study.n_told
    if job.ref.as_json:
        print_json({
            "study": study.name, "told": done.told, "failed": done.failed, "stopped": done.stopped,
            "evaluations": told, "unit": study.graph.unit, **known,
        })  # fmt: skip
    else:
        click.echo(
            f"told         {done.told} values and {done.failed} failures; the study has {told} evaluations"
        )
        for line in answer_lines(known, study.network, study.value_unit) if known else []:
            click.echo(line)
        click.echo(f"stopped      {' '.join(done.stopped.split())}")
    if was_interrupted:
        raise KeyboardInterrupt
    failed = [(each.point, each.note) for each in study.records if each.state is State.FAILED and each.point]
    if done.failed and len(failed) == told:
        raise only_failures(f"{told} evaluations", told, *failed[-1])
    if told < job.budget:
        raise NothingLeft(f"{told} of {job.budget} evaluations are made: {done.stopped}")


# Worker processes, which share nothing but the study


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A worker process, and the pipe on which it reports."""

    worker: str
    process: SpawnProcess
    pipe: Connection

    def answer(self) -> WorkSummary | str | None:
        """Its result, or the message of an error of ours; None if it died before it reported."""
        try:
            found: WorkSummary | str | None = self.pipe.recv() if self.pipe.poll() else None
        except EOFError:
            return None
        return found


def _work_in_processes(job: Job, study: Study, n: int) -> WorkSummary:
    """Result of n fresh processes; they end with this one, and are asked to end when it is interrupted."""
    started: list[WorkerProcess] = []
    running: list[WorkerProcess] = []
    interrupted = False
    try:
        with one_thread_per_worker():
            for k in range(n):
                with _signals_blocked():
                    started.append(_start(job, f"{socket.gethostname()}-{os.getpid()}-{k}"))
                    running.append(started[-1])
        _join_all(running, study)
    except KeyboardInterrupt:
        interrupted = True
        for each in running:
            each.process.terminate()
        _join_all(running, study)
    return total_work(started, interrupted)


def _start(job: Job, worker: str) -> WorkerProcess:
    context = get_context("spawn")  # numba's threads do not survive a fork
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work_and_report, args=(job, worker, there), name=worker)
    process.start()
    there.close()
    return WorkerProcess(worker, process, here)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Defer signals, so that a process that was started is also noted; it inherits the blocked Ctrl-C."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _join_all(running: list[WorkerProcess], study: Study) -> None:
    """Wait until none is left; trials of one that died are released without waiting for their leases."""
    while running:
        ready = wait([each.process.sentinel for each in running])
        for each in [each for each in running if each.process.sentinel in ready]:
            each.process.join()
            if each.process.exitcode:
                study.release_worker(each.worker)
                click.echo(f"worker {each.worker} ended with exit code {each.process.exitcode}", err=True)
            running.remove(each)


def total_work(processes: Sequence[WorkerProcess], interrupted: bool) -> WorkSummary:
    """Sum of what the processes did; an error of one is raised here."""
    answers = [each.answer() for each in processes]
    works = [answer for answer in answers if isinstance(answer, WorkSummary)]
    reason = next((answer for answer in answers if isinstance(answer, str)), None)
    if reason is not None and not interrupted:
        raise ParameterError(reason)
    if not works and not interrupted:
        raise Ending("error: every worker died; what they had under way was given back")
    reasons = [] if interrupted else [work.stopped for work in works if work.stopped != INTERRUPTED]
    stopped = reasons[-1] if reasons else INTERRUPTED  # the others went on when one was told to end
    return WorkSummary(sum(work.told for work in works), sum(work.failed for work in works), stopped)


def _work_and_report(job: Job, worker: str, pipe: Connection) -> None:
    """Main function of a worker process."""
    try:
        with interrupted_by_sigterm():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            end_with_parent(_stop)
            pipe.send(work_here(job, job.ref.open(worker)))
    except BaseError as error:
        pipe.send(str(error))
    except KeyboardInterrupt:
        pipe.send(WorkSummary(0, 0, INTERRUPTED))


def _stop() -> None:
    """Interrupt the main thread: what it evaluates is released."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
