import re
import subprocess
import sys
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import __main__ as main_module
from benchmarks.__main__ import main, systems_of
from benchmarks.maps import RESULTS, TABLE, written
from benchmarks.memory import Anonymous, Resident
from benchmarks.ratios import draw, ratios
from benchmarks.rounds import Row, play
from benchmarks.summary import pages
from benchmarks.table import CHANGES, changes, section, table
from benchmarks.task import System, Task
from benchmarks.tasks import declared
from benchmarks.tasks.pca import eigenvalue_error, variances

HERE = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The tiny task and what one round of it gave."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        patch.setenv("PYTHONPATH", HERE)
        from tiny_tasks import TASKS

        folder = tmp_path_factory.mktemp("runs")
        rows = play("tiny_tasks", TASKS[0], list(TASKS[0].systems), 1, folder, lambda text: None)
    return TASKS[0], rows


def run(again, quality=None, memory=10**6):
    return {"first": 2 * again, "again": again, "memory": memory, "quality": quality}


def task_of(*names, **options):
    systems = {name: System(lambda X: X) for name in names}
    return Task("t", "T", lambda folder: None, systems, lambda fitted, reference: None, "error", **options)


def test_each_system_is_measured_in_a_process_of_its_own(tiny):
    _, rows = tiny
    for name in ("lowdim", "scikit-learn"):
        (report,) = rows[name].runs
        assert 0 < report["again"] < 60
        assert report["quality"] < 1e-10
        assert report["memory"] is None or report["memory"] >= 0


def test_a_failing_system_is_reported_in_its_row_and_hides_no_other(tiny):
    task, rows = tiny
    assert rows["raises"].error == "ValueError: no such | thing"
    assert rows["dies"].error == "exit status 3"
    assert rows["missing"].error.startswith("ModuleNotFoundError")
    text = section(task, rows)
    assert "| raises | failed: ValueError: no such / thing |" in text
    assert "| lowdim |" in text
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1


def test_ratio_is_taken_round_by_round():
    # The machine slows down in the second round: each ratio is 3, that of pooled minima would not be.
    rows = {"a": Row([run(1.0), run(10.0), run(2.0)]), "b": Row([run(3.0), run(30.0), run(6.0)])}
    line = table(task_of("a", "b"), rows).splitlines()[-1]
    assert "| b | 6 s | 3 s – 30 s | 3.00 |" in line


def test_the_quality_shown_is_the_worst_of_all_rounds():
    rows = {"a": Row([run(1.0, 0.5), run(1.0, 0.25)])}
    assert table(task_of("a"), rows).endswith("| 0.5 |")
    assert table(task_of("a", worst=min), rows).endswith("| 0.25 |")


def test_the_baseline_is_taken_off_the_others():
    rows = {"a": Row([run(1.5)]), "b": Row([run(2.5)]), "nothing": Row([run(0.5)])}
    lines = table(task_of("a", "b", "nothing", subtract="nothing"), rows).splitlines()
    assert lines[2].startswith("| a | 1 s |")
    assert "| 2.00 |" in lines[3]
    assert lines[4].startswith("| nothing | 500 ms |")


def test_table_without_the_first_system_has_no_ratios():
    assert "| b | 2 s | 2 s – 2 s | – |" in table(task_of("a", "b"), {"b": Row([run(2.0)])})


def test_worst_quality_of_all_rounds_is_shown():
    assert table(task_of("a"), {"a": Row([run(1.0, 1e-6), run(1.0, 2e-6)])}).endswith("| 2.0e-06 |")


def test_details_are_further_columns():
    rows = {"a": Row([run(1.0) | {"details": {"stages": "one 1.0"}}]), "b": Row([run(1.0)])}
    lines = table(task_of("a", "b"), rows).splitlines()
    assert lines[0].endswith("| stages |")
    assert lines[2].endswith("| one 1.0 |")
    assert lines[3].endswith("| – |")


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_reference_variances_are_squared_singular_values(shape, kind):
    X = np.random.default_rng(0).random(shape)
    expected = np.linalg.svd(X - X.mean(0), compute_uv=False)[:3] ** 2 / (shape[0] - 1)
    np.testing.assert_allclose(variances(kind(X), 3), expected, rtol=1e-10)


def test_eigenvalue_error_is_the_largest_relative_one():
    reference = np.array([4.0, 2.0])
    assert eigenvalue_error(SimpleNamespace(explained_variance_=np.array([4.4, 2.1])), reference) == pytest.approx(0.1)
    scores = np.array([[1.0, 1.0], [-1.0, -1.0]])  # variance 2 in both columns
    assert eigenvalue_error(scores, reference) == pytest.approx(0.5)
    assert eigenvalue_error(None, reference) is None


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("kind", [Resident, Anonymous])
def test_peak_memory_sees_what_is_freed_again(kind):
    with kind() as peak:
        block = np.ones(8 * 2**20)
        for _ in range(20):
            block.sum()
        del block
    assert peak.growth == pytest.approx(64 * 2**20, rel=0.1)


def test_declared_tasks_are_distinct_and_start_with_lowdim():
    tasks = [task for _, task in declared()]
    assert len({task.name for task in tasks}) == len(tasks) > 5
    assert all(next(iter(task.systems)).startswith("lowdim") for task in tasks)


def test_functions_of_declared_tasks_take_what_they_are_given():
    for _, task in declared():
        for system in task.systems.values():
            signature(system.prepare).bind("rows")
            signature(system.fit).bind("rows")
        signature(task.data).bind("folder")
        signature(task.quality).bind("fitted", "reference")


def test_missing_data_are_said_and_a_part_does_not_overwrite_the_results(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("LOWDIM_DATA", raising=False)
    monkeypatch.setattr("benchmarks.__main__._RESULTS", tmp_path / "results.md")
    assert main(["pca-faces"]) == 0
    said = capsys.readouterr().out
    assert "LOWDIM_DATA is not set" in said
    assert "Not run: 'faces'" in said
    assert not (tmp_path / "results.md").exists()


def test_an_unknown_task_is_refused_with_the_known_ones(capsys):
    assert main(["nonesuch"]) == 2
    assert "pca-faces" in capsys.readouterr().err


def test_results_name_machine_versions_and_command(monkeypatch, tmp_path):
    monkeypatch.delenv("LOWDIM_DATA", raising=False)
    assert main(["pca-faces", "--out", str(tmp_path / "out.md")]) == 0
    text = (tmp_path / "out.md").read_text()
    for part in ("CPU", "instruction set", "numpy", "scikit-learn-intelex", "BLAS", "python -m benchmarks pca-faces"):
        assert part in text


def test_only_takes_every_system_of_a_library():
    task = task_of("lowdim", "lowdim, approximate", "lowdim: import", "scikit-learn svd", "nothing", subtract="nothing")
    assert systems_of(task, "lowdim") == ["lowdim", "lowdim, approximate", "lowdim: import", "nothing"]
    assert systems_of(task, "") == list(task.systems)
    assert systems_of(task_of("lowdim", "peer"), "", before=True) == ["lowdim", "lowdim, before", "peer"]


def test_another_lowdim_takes_turns_and_has_a_table_of_its_own(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.setenv("PYTHONPATH", HERE)
    from tiny_tasks import TASKS

    systems = ["lowdim", "lowdim, before"]
    rows = play("tiny_tasks", TASKS[0], systems, 1, tmp_path, lambda text: None, sys.executable)
    assert rows["lowdim, before"].runs[0]["quality"] == rows["lowdim"].runs[0]["quality"]
    rows = play("tiny_tasks", TASKS[0], systems, 1, tmp_path, lambda text: None, "/bin/false")
    assert rows["lowdim, before"].error
    assert rows["lowdim"].runs
    assert "before" not in section(TASKS[0], rows)


@pytest.mark.parametrize("python", ["/bin/false", "no such file"])
def test_an_interpreter_without_lowdim_is_refused_before_any_run(python, capsys):
    assert main(["pca-digits", "--before", python]) == 2
    assert "imports another lowdim" in capsys.readouterr().err
    assert main(["--device", "cuda", "--before", sys.executable]) == 2
    assert "leave out --device cuda" in capsys.readouterr().err


def test_changes_are_taken_round_by_round():
    rows = {"a": Row([run(1.0, 0.5), run(10.0, 0.5)]), "a, before": Row([run(2.0, 0.25, 2 * 10**6), run(20.0)])}
    (line,) = changes(task_of("a"), rows).splitlines()
    assert line == "| T | a | 11 s | 5.5 s | 0.50 (0.50 – 0.50) | 2 MB | 1 MB | 0.25 | 0.5 |"
    failed = changes(task_of("a"), {"a": Row([run(1.0)]), "a, before": Row(error="ImportError: not in /here")})
    assert "failed: ImportError |" in failed
    assert line.count("|") == failed.count("|") == CHANGES.splitlines()[0].count("|")


def test_the_short_table_and_the_figures_of_the_readme_are_those_of_the_results():
    root = Path(__file__).parents[2]
    made = pages((root / "benchmarks" / "results.md").read_text())
    assert {path.name for path in made} == {"benchmarks.md", "which_method.md"}
    for path, text in made.items():
        assert text == path.read_text()
    page = made[root / "docs" / "benchmarks.md"]
    readme = (root / "README.md").read_text()
    speed = readme[readme.index("## Speed") : readme.index("## Methods")]
    shown = set(re.findall(r"[\d.]+ s\b", speed))
    assert len(shown) == 9
    assert shown <= set(re.findall(r"[\d.]+ s\b", page))


def test_a_gpu_that_is_not_there_is_told(capsys, monkeypatch):
    monkeypatch.setattr(main_module, "find_spec", lambda _: None)
    assert main_module.main(["--device", "cuda"]) == 2
    assert "needs a GPU that PyTorch can use" in capsys.readouterr().err


def test_the_picture_of_ratios_has_a_bar_for_every_task_with_a_peer():
    head = "\n\n| system | time |\n|---|---|\n"
    text = (
        f"## A{head}| lowdim | 500 ms |\n| one | 2 s |\n| two | 1 s |\n\n"
        f"## B{head}| lowdim | 2 s |\n| lowdim, seed 1 | 1 s |\n| one | failed: no memory |\n\n"
        f"## C{head}| lowdim | 4 s |\n| one (one run, first fit) | 1 s |\n"
    )
    found = ratios(text)
    assert found == [("A", "two", 2.0), ("C", "one", 0.25)]
    assert ratios(text + f"\n## D{head}| lowdim | 1 s |\n| lowdim, ridge | 2 s |\n| one, ridge | 1 s |\n") == found
    assert [bar.get_width() for bar in draw(found).axes[0].patches] == [-0.75, 1.0]


def test_tables_of_maps_are_written_by_the_commands_above_them(monkeypatch):
    text = RESULTS.read_text(encoding="utf-8")
    commands = [found["command"] for found in TABLE.finditer(text)]
    assert len(commands) >= 8
    assert all((RESULTS.parent / f"{command.split()[0].split('.')[1]}.py").exists() for command in commands)
    assert written(text, ["no such words"]) == text
    monkeypatch.setattr("subprocess.run", lambda args, **_: subprocess.CompletedProcess(args, 0, f"{args[2:]}\n"))
    found = written(text, ["components"])
    assert "<!-- python -m benchmarks.components -->\n['benchmarks.components']\n<!-- end -->" in found
    assert found.replace("['benchmarks.components']", "") != text
    assert len(TABLE.findall(found)) == len(commands)
