"""Progress and Ctrl-C during a call of the library."""
import signal
import sys
import threading
import time

from ._library import PROGRESS

SECONDS_BETWEEN_LINES = 1.0


class Watch:
    """While a call runs: show its progress, and stop it when the user presses Ctrl-C.

    Python would raise KeyboardInterrupt inside the callback, where ctypes drops it.  So the
    signal is only noted while the call runs, the callback asks the library to stop, and the
    former handler gets the signal afterwards.
    """

    def __init__(self, options, verbose=0, task=""):
        self._options, self._verbose, self._task = options, verbose, task
        self._stage, self._shown, self._said = None, 0.0, None
        self._signal = self._raised = self._former = None
        self._callback = PROGRESS(self._report)

    def _note(self, *signal_and_frame):
        self._signal = signal_and_frame

    def _report(self, _user, stage, fraction, detail):
        try:
            if self._verbose:
                self._show(stage.decode(), fraction, detail.decode("utf-8", "replace"))
        except BaseException as raised:  # it cannot cross the library: raised again on exit
            self._raised = raised
        return int(self._signal is not None or self._raised is not None)

    def _show(self, stage, fraction, detail):
        now = time.monotonic()
        if (stage, fraction, detail) == self._said:  # asked again, with nothing new
            return
        self._said = stage, fraction, detail
        if (stage == self._stage and self._verbose < 2
                and now - self._shown < SECONDS_BETWEEN_LINES):
            return
        self._stage, self._shown = stage, now
        share = f" {100 * min(fraction, 1):.0f} %" if fraction >= 0 else ""
        print(f"quorum {self._task}: {stage}{share}{', ' if detail else ''}{detail}",
              file=sys.stderr)

    def __enter__(self):
        self._options.set_progress(self._callback)
        if (threading.current_thread() is threading.main_thread()
                and callable(signal.getsignal(signal.SIGINT))):
            self._former = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_):
        self._options.set_progress(None)
        self._callback = None  # it refers to this object
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)
        if self._signal is not None:
            self._former(*self._signal)
        if self._raised is not None:
            raise self._raised
