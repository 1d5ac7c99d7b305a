import os

from enfilade.cli.process_table import processes, processes_without_proc


def test_both_ways_tell_the_same_of_this_process_and_its_parent() -> None:
    own = os.getpid()
    assert processes_without_proc()[own] == processes()[own] == (os.getppid(), os.getpgrp())
