"""The guard against slowness: what it runs, and when it is red."""

import inspect
import json
from types import SimpleNamespace

import pytest

from benchmarks import older, quick


def test_every_task_names_functions_that_take_what_is_given():
    assert len(quick.TASKS) == 12
    for task in quick.TASKS.values():
        for name, more in ((task.ours, task.ours_given), (task.peer, task.peer_given)):
            fit = quick.fit_of(name, task.given, more)
            assert len(inspect.signature(fit).bind_partial("X").args) == 1


def test_a_table_is_read_as_it_is_written(tmp_path):
    row = quick.line("pca", "scikit-learn", {"ours": [0.1, 0.2, 0.1], "peer": [0.3, 0.4, 0.5]})
    assert row == "| pca | 100 ms | 400 ms | 3.00 | 2.00 | 5.00 | scikit-learn | 3.00 |"
    found = quick.stored(f"# Title\n\n{quick.HEAD}\n{row}\n")["pca"]
    assert (found["ratio"], found["lowest"]) == ("3.00", "2.00")
    assert quick.verdict(row, found) == "3.00, stored 3.00"


@pytest.mark.parametrize(("ratio", "red"), [("3.60", True), ("3.50", False), ("2.40", False)])
def test_a_ratio_is_red_where_it_fell_by_more_than_15_percent_and_out_of_the_spread(ratio, red):
    row = "| pca | 1 ms | 3 ms | 3.00 | 2.90 | 3.10 | scikit-learn | 3.00 |"
    lowest = "3.20" if red else "2.90"
    assert quick.verdict(row, {"ratio": ratio, "lowest": lowest}).startswith("RED") == red


def test_a_task_that_fails_or_falls_ends_with_status_1(monkeypatch, capsys, tmp_path):
    def measured(name, before):
        if name == "lda":
            raise RuntimeError("ImportError: no sklearn")
        return {"ours": [0.1] * 5, "peer": [0.2] * 5}

    monkeypatch.setattr(quick, "measured", measured)
    monkeypatch.setattr(quick, "STORED", tmp_path / "stored.md")
    assert quick.main(["pca"]) == 0
    assert quick.main(["lda"]) == 1
    assert "failed: ImportError" in capsys.readouterr().out
    quick.STORED.write_text(f"{quick.HEAD}\n| pca | 1 ms | 3 ms | 3.00 | 2.90 | 3.10 | scikit-learn | 3.00 |\n")
    assert quick.main(["pca"]) == 1
    assert "RED: 2.00, stored 3.00" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        quick.main(["nothing"])


def test_both_systems_take_turns_in_one_process(monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(quick, "fit_of", lambda name, *_: lambda X: calls.append((name, len(X))))
    monkeypatch.setitem(quick.TASKS, "tiny", quick.Quick(lambda: [1, 2], "a.ours", "b.peer"))
    assert quick.main(["--task", "tiny"]) == 0
    times = json.loads(capsys.readouterr().out)
    assert {who: len(found) for who, found in times.items()} == {"ours": 5, "peer": 5}
    assert calls == [("a.ours", 2), ("b.peer", 2)] * 6


def test_an_older_lowdim_takes_the_names_of_today():
    class LLE:
        def __init__(self, k, *, variant="standard"):
            self.k, self.variant = k, variant

    class MDS:
        def __init__(self, k, *, max_iter=300):
            self.k, self.max_iter = k, max_iter

    old = SimpleNamespace(
        __all__=["LLE", "MDS"],
        LLE=LLE,
        MDS=MDS,
        KernelPCA=type("KernelPCA", (), {"__init__": lambda self, *, solver: None}),
        SequentialSelector=type("SequentialSelector", (), {"__init__": lambda self, *, n_features: None}),
    )
    older.adapt(old)
    assert old.LLE(2, method="ltsa").variant == "ltsa"
    assert old.MDS(2, max_iter=5).max_iter == 5
    assert old.SequentialFeatureSelector is old.SequentialSelector
