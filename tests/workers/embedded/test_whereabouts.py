"""A note that says where embedded services run is believed only while its process lives."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import DependencyUnavailable
from workers.embedded.whereabouts import Whereabouts, announce, find, refuse_second, withdraw

HERE = Whereabouts("127.0.0.1:1", "redis://127.0.0.1:2", os.getpid())


def test_what_was_announced_is_found_until_it_is_withdrawn(tmp_path: Path) -> None:
    file = tmp_path / "a" / "embedded.json"
    assert find(file) is None
    announce(HERE, file)
    assert find(file) == HERE
    assert file.stat().st_mode & 0o077 == 0
    withdraw(HERE, file)
    assert find(file) is None


def test_the_note_of_a_dead_process_is_not_believed(tmp_path: Path) -> None:
    announce(HERE._replace(pid=2**22 + 1), tmp_path / "n")  # above the largest pid of Linux
    assert find(tmp_path / "n") is None


def test_the_note_of_another_process_is_left_alone(tmp_path: Path) -> None:
    announce(HERE, tmp_path / "n")
    withdraw(HERE._replace(kafka="127.0.0.1:9"), tmp_path / "n")
    assert find(tmp_path / "n") == HERE


def test_a_second_keeper_is_refused_while_the_first_one_lives(tmp_path: Path) -> None:
    first = HERE._replace(pid=os.getppid())
    (tmp_path / "n").write_text(json.dumps(first._asdict()))
    with pytest.raises(DependencyUnavailable, match=rf"pid {first.pid}, embedded broker at 127.0.0.1:1.*ASSAY_KAFKA"):
        refuse_second(tmp_path / "n")
    with pytest.raises(DependencyUnavailable):
        announce(HERE, tmp_path / "n")
    assert find(tmp_path / "n") == first


def test_the_note_of_a_dead_process_gives_way_to_a_new_one(tmp_path: Path) -> None:
    announce(HERE._replace(pid=2**22 + 1), tmp_path / "n")
    refuse_second(tmp_path / "n")
    announce(HERE, tmp_path / "n")
    assert find(tmp_path / "n") == HERE


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kafka": 1}', '{"kafka":"a","redis":"b","pid":"x"}'])
def test_an_unreadable_note_is_no_note(tmp_path: Path, text: str) -> None:
    (tmp_path / "n").write_text(text)
    assert find(tmp_path / "n") is None


def test_of_many_that_start_in_the_same_instant_one_stays(tmp_path: Path) -> None:
    """Each thread stands for a process: a lock belongs to whoever opened the file, and both pids are alive."""
    starts = [HERE._replace(pid=pid, kafka=f"127.0.0.1:{n}") for n, pid in enumerate((os.getppid(), 1) * 8)]

    def start(one: Whereabouts) -> bool:
        try:
            announce(one, tmp_path / "n")
        except DependencyUnavailable:
            return False
        return True

    with ThreadPoolExecutor(len(starts)) as pool:
        assert sum(pool.map(start, starts)) == 1
