import subprocess
import sys

import pytest

from lowdim.work import memory


def test_what_fits_passes_and_what_does_not_is_refused_with_both_figures(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "100M")
    memory.require(99 * 2**20, "X", "Y")
    with pytest.raises(MemoryError, match=r"^PCA: a matrix needs 2 GB of memory; 100 MB is available. Use less.$"):
        memory.require(2 * 2**30, "PCA: a matrix", "Use less.")


@pytest.mark.parametrize(("text", "size"), [("7", 7), ("2K", 2048), ("1.5 MB", 1.5 * 2**20), ("1g", 2**30)])
def test_the_variable_is_read_as_a_size(monkeypatch, text, size):
    monkeypatch.setattr(memory, "_cgroup_free", lambda: float("inf"))
    monkeypatch.setenv("LOWDIM_MEMORY", text)
    assert memory.available() == int(size)


def test_the_variable_never_raises_the_limit(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "900T")
    assert memory.available() < 2**50


def test_a_malformed_variable_is_told(monkeypatch):
    monkeypatch.setenv("LOWDIM_MEMORY", "lots")
    with pytest.raises(ValueError, match="LOWDIM_MEMORY must be a size.*got 'lots'"):
        memory.available()


def test_the_cgroup_limit_counts(monkeypatch):
    monkeypatch.setattr(memory, "_cgroup_free", lambda: 12345.0)
    assert memory.available() == 12345


@pytest.mark.parametrize(
    ("names", "cached"),
    [
        (("memory.max", "memory.current", "memory.stat"), "inactive_file"),
        (
            ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
            "total_inactive_file",
        ),
    ],
)
def test_files_that_the_cgroup_can_forget_leave_memory_free(tmp_path, names, cached):
    """Reading a large file fills the cache up to the limit; what asks for memory next gets it from there."""
    (tmp_path / "memory").mkdir()
    for name, text in zip(names, ("1000", "990", f"anon 90\n{cached} 800\nactive_file 100"), strict=True):
        (tmp_path / name).write_text(text)
    assert memory._cgroup_free(tmp_path) == 810
    (tmp_path / names[0]).write_text("max")
    assert memory._cgroup_free(tmp_path) == float("inf")


def test_a_trifle_is_given_without_a_look_at_the_system_unless_a_limit_is_set(monkeypatch):
    monkeypatch.delenv("LOWDIM_MEMORY", raising=False)
    monkeypatch.setattr(memory, "_cgroup_free", lambda: 0.0)
    memory.require(2**20, "X", "Y")
    with pytest.raises(MemoryError):
        memory.require(2**20 + 1, "X", "Y")
    monkeypatch.setenv("LOWDIM_MEMORY", "10")
    with pytest.raises(MemoryError):
        memory.require(11, "X", "Y")


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v is enforced on Linux")
def test_a_limit_of_the_address_space_is_seen():
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30));"
        "from lowdim.work import memory; print(memory.available())"
    )
    found = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, check=True)
    assert 0 < int(found.stdout) < 3 * 2**30
