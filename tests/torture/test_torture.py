"""A small seeded part of the hostile campaign; ``make torture`` runs the rest."""

import pytest

from torture.__main__ import main
from torture.judge import Failure, Refused, judged


@pytest.mark.parametrize("kinds", [["inputs=60", "chains=30"], ["files=100", "tables=40"]])
def test_no_case_crashes_hangs_or_speaks_in_foreign_words(kinds, capsys):
    assert main([*kinds, "--workers", "1", "--seed", "1"]) == 0, capsys.readouterr().out


def test_the_judge_tells_refusals_from_failures():
    from lowdim import PCA

    assert judged(lambda: 1) == 1
    with pytest.raises(Refused, match="2D"):
        judged(lambda: PCA().fit([1, 2]))
    with pytest.raises(Failure, match="foreign exception"):
        judged(lambda: {}["x"])
    with pytest.raises(Failure, match="foreign exception"):
        judged(lambda: int("x"))


def test_a_worker_that_dies_is_told_and_replaced(monkeypatch):
    from torture.pool import Case, Worker

    worker = Worker(limit=20)
    try:
        assert "failure" in worker.run(Case("no such kind", 0, 0))
        worker._process.kill()
        worker._process.wait()
        assert worker.run(Case("tables", 0, 0))["outcome"] in ("read", "refused")
    finally:
        worker.close()
