"""Does this person's review or label add information beyond what an LLM already says?

A thin layer around the program ``caz``: every function writes what it is given into a folder that
only the user can read, runs the program on it, and returns the result. Nothing leaves the machine
unless a setting names a server.

>>> import caz
>>> result = caz.reviews("reviews.jsonl", "llm-reviews.jsonl")  # doctest: +SKIP
>>> result.table[0]["reviewer"]  # doctest: +SKIP
'finn'
"""

from ._errors import (
    CazError,
    GateFailed,
    InputError,
    Interrupted,
    MissingError,
    NetworkError,
    UsageError,
)
from ._find import find_caz_bin
from ._run import Result, agree, assumptions, embed, explain, judge, labels, reviews

__all__ = [
    "CazError",
    "GateFailed",
    "InputError",
    "Interrupted",
    "MissingError",
    "NetworkError",
    "Result",
    "UsageError",
    "agree",
    "assumptions",
    "embed",
    "explain",
    "find_caz_bin",
    "judge",
    "labels",
    "reviews",
]
