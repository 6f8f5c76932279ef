"""One function per command of the program."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

from ._data import Data, as_file, kind_of, table_of
from ._errors import GateFailed, UsageError, error_of
from ._find import find_caz_bin


class Result:
    """What a command found.

    Attributes
    ----------
    table
        One row per result: a frame of the kind that the data came in, else a list of dicts. What is
        undefined is ``None`` (missing in a frame), never 0.
    rows
        The same as a list of dicts.
    warnings
        Dicts with ``code``, ``count`` and ``message``.
    settings
        Every setting that changes the result, defaults included.
    inputs
        Path, SHA-256 and number of rows of every file that was read.
    """

    def __init__(self, envelope: dict[str, Any], kind: str, command: _Command) -> None:
        self.rows: list[dict[str, Any]] = envelope["results"]
        self.table: Any = table_of(self.rows, kind)
        self.warnings: list[dict[str, Any]] = envelope["warnings"]
        self.settings: dict[str, Any] = envelope["settings"]
        self.inputs: list[dict[str, Any]] = envelope["inputs"]
        self.version: str = envelope["version"]
        self._command = command

    def frame(self, kind: str = "pandas") -> Any:
        """The rows as a frame of ``pandas`` or ``polars``, whatever the data came in; numbers are
        numbers, and those that are missing among them are missing numbers."""
        return table_of(self.rows, kind)

    def report(self, path: Union[str, os.PathLike[str]]) -> Path:
        """Writes the page that the result is read in, one HTML file, and returns its path.

        The program runs once more for it, on the same data.
        """
        path = Path(path)
        self._command.run(["--report", str(path), "--format", "json"])
        return path

    def __repr__(self) -> str:
        return f"<caz.Result: {len(self.rows)} rows, {len(self.warnings)} warnings>"


class _Command:
    """A command line and the folder that holds its data."""

    def __init__(self, name: str, positional: list[tuple[str, Data]], settings: dict[str, Any],
                 files: dict[str, Any]) -> None:
        # Readable by the user alone; removed with this object.
        self._folder = tempfile.TemporaryDirectory(prefix="caz-")
        folder = Path(self._folder.name)
        self.arguments = [name]
        for stem, data in positional:
            self.arguments.append(as_file(data, folder, stem))
        for flag, data in files.items():
            if data is None:
                continue
            several = data if _is_several(data) else [data]
            self.arguments.append(f"--{flag}")
            stem = "z" if flag == "z" else flag
            for number, each in enumerate(several):
                ending = f"-{number + 1}" if len(several) > 1 else ""
                self.arguments.append(as_file(each, folder, f"{stem}{ending}"))
        self.arguments.extend(_flags(settings))

    @property
    def folder(self) -> str:
        """Where its data are."""
        return self._folder.name

    def run(self, more: Sequence[str]) -> str:
        """Standard output of the program.

        Raises
        ------
        CazError
            Of the kind that the exit code names.
        """
        command = [str(find_caz_bin()), *self.arguments, *more]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            message = done.stderr.strip()
            start = message.find("error: ")
            error = error_of(done.returncode, message[start + 7:] if start >= 0 else message)
            error.output = done.stdout
            raise error
        return done.stdout


def _is_several(data: Any) -> bool:
    """A list of data sets, as opposed to a list of rows."""
    if not isinstance(data, (list, tuple)) or not data:
        return False
    return all(not isinstance(each, dict) for each in data)


def _flags(settings: dict[str, Any]) -> list[str]:
    """``min_papers=3, score=["own", "projected"], offline=True`` as flags; ``None`` is left out.

    A dict is a flag of keys: ``vectors={"granularity": "text"}``.
    """
    flags: list[str] = []
    for name, value in settings.items():
        flag = _long(name)
        if value is None or value is False:
            continue
        if value is True:
            flags.append(flag)
        elif isinstance(value, dict):
            flags.extend(f"{flag}={key[2:]}" for key in _flags(value))
        elif isinstance(value, (list, tuple)) and _is_given_again(name, value):
            flags.extend(f"{flag}={each}" for each in value)
        elif isinstance(value, (list, tuple)):
            flags.append(f"{flag}={','.join(str(each) for each in value)}")
        else:
            flags.append(f"{flag}={value}")
    return flags


def _long(name: str) -> str:
    """The flag of a setting."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def _is_given_again(name: str, values: Sequence[Any]) -> bool:
    """Whether several values are several flags and not one list: of ``compare``, pairs ``"a,b"``."""
    pairs = name == "compare" and any("," in str(each) or each == "all" for each in values)
    return name in ("require", "column") or pairs


def _result(name: str, positional: list[tuple[str, Data]], settings: dict[str, Any],
            files: dict[str, Any]) -> Result:
    if settings.get("output") or settings.get("format"):
        raise UsageError("`output` and `format` are no settings here: take the result's `table`", 2)
    command = _Command(name, positional, settings, files)
    try:
        envelope = json.loads(command.run(["--format", "json"]))
    except GateFailed as error:
        if error.output:
            error.result = Result(json.loads(error.output), kind_of(positional[0][1]), command)
        raise
    return Result(envelope, kind_of(positional[0][1]), command)


def reviews(reviews: Data, z: Union[Data, Sequence[Data]], **settings: Any) -> Result:
    """Scores reviewers by what their reviews share with their peers' beyond an LLM's.

    Parameters
    ----------
    reviews
        Reviews by people: ``paper``, ``reviewer``, and ``text``, ``vector`` or ``judgments``.
    z
        LLM reviews of the same papers: ``paper``, the same content, optional ``source`` and
        ``sample``; one data set or a list of them.
    settings
        Flags of ``caz reviews`` with ``_`` for ``-``, e.g. ``score="projected"``, ``fdr=0.01``.

    Returns
    -------
    Result
        One row per reviewer and score, worst first. A flag is a reason to look, never a verdict.

    Raises
    ------
    CazError
        Of the kind that the program reports.
    """
    return _result("reviews", [("reviews", reviews)], settings, {"z": z})


def labels(labels: Data, z: Union[Data, Sequence[Data], None] = None, truth: Optional[Data] = None,
           **settings: Any) -> Result:
    """Scores crowd workers by what their labels share with their peers' beyond an LLM's.

    ``labels`` has ``task``, ``worker``, ``label``; ``z`` has ``task``, ``label`` and optional
    ``source``, ``sample``; ``truth`` has ``task``, ``truth``. Settings are the flags of
    ``caz labels`` with ``_`` for ``-``. Returns one row per worker and mechanism, worst first.
    """
    return _result("labels", [("labels", labels)], settings, {"z": z, "truth": truth})


def agree(labels: Data, gold: Optional[Data] = None, **settings: Any) -> Result:
    """Says how good labellers are, against gold labels or against people.

    ``labels`` has ``task``, ``source``, ``label``; ``gold`` has ``task``, ``label``, and ``worker``
    where several people labelled. Settings are the flags of ``caz agree``. Returns one row per
    source and metric, with intervals and bounds for missing labels.
    """
    return _result("agree", [("labels", labels)], settings, {"gold": gold})


def assumptions(labels: Data, z: Union[Data, Sequence[Data]], **settings: Any) -> Result:
    """Says which LLM to condition on, and whether it can work on these labels.

    Data as those of :func:`labels`; ``z`` needs two samples of a source. Settings are the flags of
    ``caz assumptions``. Returns one row per source and hypothesis.
    """
    return _result("assumptions", [("labels", labels)], settings, {"z": z})


def judge(pairs: Data, **settings: Any) -> Result:
    """Lets a language model say which of two answers is better, in both orders.

    ``pairs`` has ``item``, ``context``, ``a``, ``b`` and optional ``gold``. Settings are the flags of
    ``caz judge``, among them ``method`` and ``model``; nothing leaves the machine unless ``base_url``
    names a server. Returns one row per pair and method.
    """
    return _result("judge", [("pairs", pairs)], settings, {})


def explain(reviews: Data, z: Union[Data, Sequence[Data]], reviewer: str, **settings: Any) -> str:
    """The evidence on one reviewer, as ``caz reviews --explain`` prints it.

    Data and settings as those of :func:`reviews`.
    """
    command = _Command("reviews", [("reviews", reviews)], {**settings, "explain": reviewer}, {"z": z})
    return command.run(["--color", "never"])


def embed(texts: Union[Data, Sequence[str]], embedder: Optional[str] = None, **settings: Any) -> Any:
    """Vectors of texts.

    Of a list of strings a NumPy array, a row per string, 64-bit floats. Of anything else, which has a
    column ``text``, rows with the columns of the program's JSON lines: a frame of the kind that came
    in, else a list of dicts. Settings are the flags of ``caz embed``, e.g.
    ``vectors={"granularity": "sentence"}``.

    >>> caz.embed(["One text.", "Another one."], "static").shape  # doctest: +SKIP
    (2, 128)
    """
    settings = {"embedder": embedder, **settings}
    if isinstance(texts, (list, tuple)) and all(isinstance(text, str) for text in texts):
        import numpy

        if not texts:
            raise UsageError("there is no text", 2)
        command = _Command("embed", [("texts", [{"text": text} for text in texts])], settings, {})
        path = Path(command.folder) / "vectors.npy"
        command.run(["--output", str(path)])
        return numpy.load(path)
    command = _Command("embed", [("texts", texts)], settings, {})
    lines = command.run(["--format", "jsonl"]).splitlines()
    return table_of([json.loads(line) for line in lines if line], kind_of(texts))
