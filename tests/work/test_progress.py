import io
import sys

import pytest

from lowdim.work import lapack_time, progress


def test_silent_without_verbose(capsys):
    with progress.showing(0, "PCA"), progress.stage("moments", total=3) as tick:
        tick(3)
    assert capsys.readouterr() == ("", "")


def test_a_log_gets_one_line_per_stage(capsys):
    with progress.showing(1, "PCA"):
        for name in ("moments", "eigenvectors"):
            with progress.stage(name, total=3) as tick:
                tick(1)
        progress.note("residual 1e-9")
        with progress.stage("rotation"):
            progress.note("2 turns")
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line.split(", ") for line in err.splitlines()]
    assert [line[0] for line in lines] == ["PCA: moments", "PCA: eigenvectors", "PCA: rotation"]
    assert [line[2:] for line in lines] == [[], [], ["2 turns"]]


def test_a_terminal_gets_a_bar_with_stage_share_time_and_note(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the stream for a terminal
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress.showing(1, "TSNE"), progress.stage("descent", total=4) as tick:
        tick(2)
        progress.note("KL 2.8")
    text = screen.getvalue()
    for part in ("TSNE: descent", "100%", "0:00:00", "KL 2.8"):
        assert part in text


def test_an_error_inside_a_stage_comes_through_and_ends_the_showing():
    with pytest.raises(KeyboardInterrupt), progress.showing(1, "PCA"), progress.stage("moments"):
        raise KeyboardInterrupt
    assert progress._current.get() is None


def test_a_log_tells_long_stages_beforehand(capsys, monkeypatch):
    monkeypatch.setattr(lapack_time, "_speed", lambda n_threads: 1e10)
    with progress.showing(1, "KernelLDA"), progress.stage("eigenvectors", flops=1.2e12):
        assert capsys.readouterr().err == "KernelLDA: eigenvectors (about 2 min) …\n"
    assert capsys.readouterr().err.startswith("KernelLDA: eigenvectors (about 2 min), 0.0")


def test_work_that_takes_minutes_is_told_without_verbose(monkeypatch):
    monkeypatch.setattr(lapack_time, "_speed", lambda n_threads: 1e10)
    told = pytest.warns(UserWarning, match="KernelLDA: eigenvectors will take about 2 min, growing with the cube")
    with progress.showing(0, "KernelLDA"), told, progress.stage("eigenvectors", flops=1.2e12):
        pass
    with progress.showing(0, "KernelLDA"), progress.stage("eigenvectors", flops=1.2e11):
        pass  # seconds are not worth a word


def test_the_speed_is_measured_where_an_estimate_matters():
    assert lapack_time.seconds(1e10) == 0
    assert 1e-3 < lapack_time.seconds(1e12) < 1e4
