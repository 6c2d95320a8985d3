"""Progress, Ctrl-C, and other threads during work."""
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from conftest import make_data, small

import quorum


@pytest.fixture(autouse=True)
def a_terminal_that_is_listened_to():
    """What a shell starts in the background ignores Ctrl-C, and so would Python."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


def press_ctrl_c(after):
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_stops_a_fit(fitted, queries):
    X, y = make_data(6000, inputs=6)
    handler = signal.getsignal(signal.SIGINT)
    timer, start = press_ctrl_c(0.5), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        small(n_experts=2, train="parts", max_evaluations=100000, tolerance=0).fit(X, y)
    assert time.monotonic() - start < 20
    timer.join()
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(fitted.predict(queries)) == len(queries)  # the library is as before


class PressWhenTold:
    """For sys.stderr: presses Ctrl-C a moment after the first progress, however busy the machine is."""

    timer = None

    def write(self, _):
        self.timer = self.timer or press_ctrl_c(0.1)

    def flush(self):
        pass


def test_ctrl_c_goes_to_the_users_own_handler(monkeypatch):
    pressed, finger = [], PressWhenTold()
    former = signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    monkeypatch.setattr(sys, "stderr", finger)
    try:
        with pytest.raises(quorum.CancelledError, match="cancelled during"):
            small(n_experts=1, train="parts", max_evaluations=100000, tolerance=0, verbose=1).fit(
                *make_data(2000))
    finally:
        finger.timer.join()
        signal.signal(signal.SIGINT, former)
    assert pressed == [1]


@pytest.mark.parametrize("method", ["predict", "predict_joint"])
def test_ctrl_c_stops_a_prediction_in_the_middle_of_a_block(method):
    X, y = make_data(5000, inputs=6)
    model = small(neighbours=1024, max_evaluations=2).fit(X, y)  # minutes for one block
    timer, start = press_ctrl_c(0.5), time.process_time()
    with pytest.raises(KeyboardInterrupt):
        getattr(model, method)(X)
    assert time.process_time() - start < 5 * os.cpu_count()  # five seconds, if nobody else is at work
    timer.join()


def test_progress_is_shown(data, queries, capsys):
    model = small(verbose=1).fit(*data)
    assert "quorum fit: train" in capsys.readouterr().err
    model.predict(queries)
    assert "quorum predict: predict" in capsys.readouterr().err
    model.set_params(verbose=0).predict(queries)
    assert capsys.readouterr().err == ""


def test_an_error_while_showing_comes_through(data, monkeypatch):
    class Broken:
        def write(self, _):
            raise BrokenPipeError("nobody listens")

    monkeypatch.setattr(sys, "stderr", Broken())
    with pytest.raises(BrokenPipeError, match="nobody listens"):
        small(verbose=1).fit(*data)


def test_other_threads_run_during_work():
    values = np.random.default_rng(0).standard_normal((300, 400))
    covariance = values.T @ values / 300
    done, ticks = threading.Event(), 0
    worker = threading.Thread(target=lambda: (quorum.graphical_lasso(covariance, 0.1), done.set()))
    worker.start()
    while not done.is_set():
        time.sleep(0.001)
        ticks += 1
    worker.join()
    assert ticks > 10  # one call of the library, without callbacks
