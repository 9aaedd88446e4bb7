"""Tests of work that Ctrl-C and SIGTERM interrupt."""

from __future__ import annotations

import signal
import threading

import pytest
from paceline.interruption import run_interruptibly


def test_a_signal_while_another_one_is_handled_waits_its_turn() -> None:
    """Proves that no handler runs inside another one: it would wait for a lock that the other one holds, for ever."""
    lock, handled_twice = threading.Lock(), threading.Event()
    calls: list[bool] = []

    def interrupt() -> None:
        is_free = lock.acquire(blocking=False)
        calls.append(is_free)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGTERM)
        else:
            handled_twice.set()
        if is_free:
            lock.release()

    def work() -> str:
        signal.raise_signal(signal.SIGTERM)
        handled_twice.wait()
        return "done"

    before = signal.getsignal(signal.SIGTERM)
    assert run_interruptibly(work, interrupt) == "done"
    assert calls == [True, True]
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_error_of_the_work_is_raised_and_another_thread_just_works() -> None:
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 // 0, lambda: None)
    results: list[int] = []
    thread = threading.Thread(
        target=lambda: results.append(run_interruptibly(lambda: 7, lambda: None))
    )
    thread.start()
    thread.join()
    assert results == [7]
