import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lowdim.work.atomic_files import atomic


def files(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_block_that_ends_well_leaves_exactly_its_file(tmp_path):
    with atomic(tmp_path / "a.bin") as file:
        file.write(b"xyz")
        file.seek(0)
        file.write(b"X")
    assert (tmp_path / "a.bin").read_bytes() == b"Xyz"
    assert files(tmp_path) == ["a.bin"]


def test_the_target_is_untouched_until_the_block_ends(tmp_path):
    target = tmp_path / "a.bin"
    target.write_bytes(b"old")
    with atomic(target) as file:
        file.write(b"new")
        file.flush()
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("existing", [True, False])
def test_a_block_that_fails_leaves_nothing_new_and_raises(tmp_path, failure, existing):
    target = tmp_path / "a.bin"
    if existing:
        target.write_bytes(b"old")
    before = files(tmp_path)

    def fail_halfway():
        with atomic(target) as file:
            file.write(b"half")
            raise failure

    with pytest.raises(failure):
        fail_halfway()
    assert files(tmp_path) == before
    assert not existing or target.read_bytes() == b"old"


def test_a_failure_to_replace_cleans_up_too(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="no"), atomic(tmp_path / "a.bin") as file:
        file.write(b"x")
    assert files(tmp_path) == []


def test_a_file_that_a_program_has_open_says_so(tmp_path, monkeypatch):
    path = tmp_path / "open.bin"
    path.write_bytes(b"old")

    def refuse(*_):  # as Windows does
        raise PermissionError(13, "Access is denied", ".lowdim-draft")

    monkeypatch.setattr(os, "replace", refuse)
    with (
        pytest.raises(PermissionError, match=r"'.*open\.bin' may not, perhaps because a program has it open"),
        atomic(path),
    ):
        pass
    assert [child.name for child in tmp_path.iterdir()] == ["open.bin"]


def test_a_folder_that_may_not_be_written_to_says_so(tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)  # permissions bind no root
    words = r"^A folder that may be written to is needed; '[^']*' may not. Write elsewhere, or change its permissions.$"
    with pytest.raises(PermissionError, match=words), atomic(tmp_path / "a.bin"):
        pass


def test_contents_are_synced_before_the_file_is_put_in_place(tmp_path, monkeypatch):
    events: list[str] = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("sync"), sync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda *paths: (events.append("replace"), replace(*paths))[1])
    with atomic(tmp_path / "a.bin") as file:
        file.write(b"x")
    assert events[:2] == ["sync", "replace"]
    assert events[2:] == (["sync"] if os.name == "posix" else [])


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX")
class TestPermissions:
    def test_an_existing_file_keeps_its_own(self, tmp_path):
        target = tmp_path / "a.bin"
        target.write_bytes(b"old")
        target.chmod(0o640)
        with atomic(target) as file:
            file.write(b"new")
        assert stat.S_IMODE(target.stat().st_mode) == 0o640

    @pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o077, 0o600)])
    def test_a_new_file_follows_the_umask(self, tmp_path, mask, expected):
        before = os.umask(mask)
        try:
            with atomic(tmp_path / "a.bin") as file:
                file.write(b"x")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "a.bin").stat().st_mode) == expected

    def test_a_read_only_file_is_refused(self, tmp_path, monkeypatch):
        target = tmp_path / "a.bin"
        target.write_bytes(b"old")
        monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anything
        with pytest.raises(PermissionError, match=r"read-only\. Write elsewhere"), atomic(target):
            pass
        assert target.read_bytes() == b"old"

    def test_a_link_is_followed_not_replaced(self, tmp_path):
        folder = tmp_path / "real"
        folder.mkdir()
        (folder / "a.bin").write_bytes(b"old")
        link = tmp_path / "link.bin"
        link.symlink_to(folder / "a.bin")
        with atomic(link) as file:
            file.write(b"new")
        assert link.is_symlink()
        assert (folder / "a.bin").read_bytes() == b"new"
        assert files(folder) == ["a.bin"]

    def test_a_pipe_is_refused_and_survives(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with pytest.raises(ValueError, match="is not a regular file"), atomic(pipe):
            pass
        assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_missing_folder_and_a_folder_as_target_say_what_to_do(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"existing folder.*nowhere.*Create it"),
        atomic(tmp_path / "nowhere" / "a.bin"),
    ):
        pass
    with pytest.raises(ValueError, match=r"is a folder\. Give another file name"), atomic(tmp_path):
        pass
    assert files(tmp_path) == []


def test_a_name_as_long_as_the_system_allows_works(tmp_path):
    with atomic(tmp_path / ("a" * 255)) as file:
        file.write(b"x")
    assert files(tmp_path) == ["a" * 255]


def test_the_draft_of_a_killed_process_is_removed_by_the_next_to_write(tmp_path):
    code = (
        "import os, signal, sys\n"
        "from lowdim.work.atomic_files import atomic\n"
        "with atomic(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], check=False)
    assert len(list(tmp_path.glob(".lowdim-*"))) == 1
    with atomic(tmp_path / "b") as file:
        file.write(b"whole")
        assert len(list(tmp_path.glob(".lowdim-*"))) == 1  # its own
        with atomic(tmp_path / "c") as other:  # leaves that of a process at work alone
            other.write(b"whole too")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]
