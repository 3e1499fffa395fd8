"""Files with damage of every kind are judged by the library: a finding or a clean read, and nothing else.

These are the first few hundred of the files that `make fuzz` judges.
"""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.mutations import mutated
from tests.fuzz.run import WRONG, outcomes

FILES = 240
MOST_MEGABYTES = 256  # beyond what undamaged files take


def test_hundreds_of_damaged_files_are_findings_or_clean_reads():
    half = FILES // 2
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda first: list(outcomes(first, first + half, seconds=120)), (0, half))
        told = [each for part in parts for each in part]
    assert [each["seed"] for each in told] == list(range(FILES))
    assert [each for each in told if each["outcome"] in WRONG] == []
    counts = Counter(each["outcome"] for each in told)
    assert min(counts["clean"], counts["corrupt"], counts["truncated"]) > 5
    assert max(each["megabytes"] for each in told) < MOST_MEGABYTES


def test_a_seed_gives_the_same_file_again():
    assert mutated(7) == mutated(7)
    assert mutated(7) != mutated(8)


WORKER = """
import json, os, sys, time
print(json.dumps({"ready": True}), flush=True)
for seed in range(int(sys.argv[1]), int(sys.argv[2])):
    if seed == 1: os.abort()
    if seed == 3: time.sleep(60)
    print(json.dumps({"seed": seed, "outcome": "clean"}), flush=True)
"""


def test_a_process_that_ends_or_never_answers_is_the_finding_of_its_seed():
    told = list(outcomes(0, 5, seconds=0.5, worker=(sys.executable, "-c", WORKER)))
    assert [(each["seed"], each["outcome"]) for each in told] == [
        (0, "clean"),
        (1, "crash"),
        (2, "clean"),
        (3, "hang"),
        (4, "clean"),
    ]
