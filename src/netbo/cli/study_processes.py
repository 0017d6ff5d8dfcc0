"""Several workers on this machine: processes that share nothing but the study."""

import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

import click

from netbo.cli.study_door import Ending
from netbo.cli.study_opening import open_study
from netbo.cli.study_running import Job, ended_by_sigterm, work_here
from netbo.errors import BaseError, ParameterError
from netbo.optimize.evaluation import end_with_parent, one_thread_per_worker
from netbo.studies import Study, Work
from netbo.studies.worker import INTERRUPTED


@dataclass(frozen=True, slots=True)
class Hand:
    """One worker process, and where it says what it did."""

    worker: str
    process: SpawnProcess
    pipe: Connection

    def answer(self) -> Work | str | None:
        """What it did, or an error of ours; None if it died without a word."""
        try:
            found: Work | str | None = self.pipe.recv() if self.pipe.poll() else None
        except EOFError:
            return None
        return found


def work_in_processes(job: Job, study: Study, n: int) -> Work:
    """What n fresh processes did together; they end with this one, and cleanly when it is told to end."""
    hands: list[Hand] = []
    working: list[Hand] = []
    interrupted = False
    try:
        with one_thread_per_worker():
            for k in range(n):
                with _signals_held():
                    hands.append(_start(job, f"{socket.gethostname()}-{os.getpid()}-{k}"))
                    working.append(hands[-1])
        _await(working, study)
    except KeyboardInterrupt:
        interrupted = True
        for hand in working:
            hand.process.terminate()
        _await(working, study)
    return _together(hands, interrupted)


def _start(job: Job, worker: str) -> Hand:
    context = get_context("spawn")  # numba's threads do not survive a fork
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_join, args=(job, worker, there), name=worker)
    process.start()
    there.close()
    return Hand(worker, process, here)


@contextmanager
def _signals_held() -> Iterator[None]:
    """A process is started and noted, or not started; its Ctrl-C is ours to pass on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _await(working: list[Hand], study: Study) -> None:
    """Wait until none is left; what one that died had under way goes back without waiting for its lease."""
    while working:
        ready = wait([hand.process.sentinel for hand in working])
        for hand in [hand for hand in working if hand.process.sentinel in ready]:
            hand.process.join()
            if hand.process.exitcode:
                study.release_worker(hand.worker)
                click.echo(f"worker {hand.worker} ended with exit code {hand.process.exitcode}", err=True)
            working.remove(hand)


def _together(hands: Sequence[Hand], interrupted: bool) -> Work:
    answers = [hand.answer() for hand in hands]
    works = [answer for answer in answers if isinstance(answer, Work)]
    reason = next((answer for answer in answers if isinstance(answer, str)), None)
    if reason is not None and not interrupted:
        raise ParameterError(reason)
    if not works and not interrupted:
        raise Ending("error: every worker died; what they had under way was given back")
    reasons = [] if interrupted else [work.stopped for work in works if work.stopped != INTERRUPTED]
    stopped = reasons[-1] if reasons else INTERRUPTED  # the others went on when one was told to end
    return Work(sum(work.told for work in works), sum(work.failed for work in works), stopped)


def _join(job: Job, worker: str, pipe: Connection) -> None:
    """The life of a worker process."""
    try:
        with ended_by_sigterm():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            end_with_parent(_stop)
            pipe.send(work_here(job, open_study(job.door, worker)))
    except BaseError as error:
        pipe.send(str(error))
    except KeyboardInterrupt:
        pipe.send(Work(0, 0, INTERRUPTED))


def _stop() -> None:
    """End cleanly: what is under way is given back."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
