# SPDX-License-Identifier: Apache-2.0
"""Runs cases in several guests at the same time. Each guest takes the next case that no guest has taken."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Iterator, Sequence

from .channel import Message
from .session import Session
from .suite import Case

CASES = 40
"""A further guest is worth its boot for so many cases."""


def count(wanted: int, cases: int) -> int:
    """The number of guests for a number of cases, at most `wanted`."""
    return max(1, min(wanted, cases // CASES))


def run(
    sessions: Sequence[Session], cases: Sequence[Case], done: Callable[[Message], None]
) -> None:
    """Runs each case once, in one of the sessions. `done` receives each result; its calls do not overlap. After an error
    in one session, the others end, too."""
    lock = threading.Lock()
    waiting = iter(cases)
    stopped = threading.Event()

    def taken() -> Iterator[Case]:
        while not stopped.is_set():
            with lock:
                case = next(waiting, None)
            if case is None:
                return
            yield case

    def work(session: Session) -> None:
        try:
            for case in taken():
                result = session.run(case)
                with lock:
                    done(result)
            if not stopped.is_set():
                session.finish()
        except BaseException:
            stopped.set()
            raise

    with concurrent.futures.ThreadPoolExecutor(len(sessions)) as pool:
        futures = [pool.submit(work, session) for session in sessions]
        try:
            for future in concurrent.futures.as_completed(futures):
                future.result()
        except BaseException:
            stopped.set()
            for session in sessions:
                session.power_off_now()
            raise
