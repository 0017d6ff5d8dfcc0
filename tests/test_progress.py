"""Bars in notebooks: one display, updated now and then; `tests/integration/test_notebook.py` has a kernel."""

from netbo.progress import PAUSE, NotebookBar, notebook_display, progress_bar


class FakeDisplay:
    """Stands for IPython.display and its handle: keeps what was shown."""

    def __init__(self):
        self.shown, self.updated = [], []

    def display(self, data, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(data["text/plain"])
        return self

    def update(self, data, *, raw):
        assert raw
        self.updated.append(data["text/plain"])


def test_the_display_is_updated_a_few_times_a_second_and_at_the_end():
    """1,000 values in ten seconds: 40 updates, not 1,000; the last state is the final one."""
    display, now = FakeDisplay(), [0.0]
    bar = NotebookBar("maximize", 1000, display, clock=lambda: now[0])
    bar.show(0, None)
    for k in range(1, 1001):
        now[0] = k / 100
        bar.show(k, float(k))
    bar.end()

    assert display.shown == ["maximize: 0 of 1000, no value yet"]
    assert len(display.updated) <= 10 / PAUSE + 1
    assert display.updated[0] == f"maximize: 25 of 1000, best 25, {round(10 - PAUSE)} s left"
    assert display.updated[-1] == "maximize: 1000 of 1000, best 1000, 10 s in all"


def test_time_left_counts_from_where_a_run_went_on():
    """Ten of twenty were there before: five more in 100 s leave five, another 100 s."""
    display, now = FakeDisplay(), [0.0]
    bar = NotebookBar("work", 20, display, clock=lambda: now[0])
    bar.show(10, 1.0)
    now[0] = 100.0
    bar.show(15, 1.0)

    assert display.updated == ["work: 15 of 20, best 1, 1 min 40 s left"]


def test_nothing_is_shown_where_nothing_happened():
    display = FakeDisplay()
    NotebookBar("maximize", 5, display).end()

    assert display.shown == display.updated == []


def test_outside_of_a_kernel_there_is_no_display(capsys):
    assert notebook_display() is None
    with progress_bar("maximize", 5, shown=None) as show:
        show(1, 0.5)

    assert capsys.readouterr() == ("", "")
