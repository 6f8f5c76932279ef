"""Data in and out: paths, lists of rows, pandas and polars frames; neither of them is needed."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Union

#: What a function takes as data: a path, rows, or a frame of pandas or polars.
Data = Union[str, "os.PathLike[str]", Iterable[Mapping[str, Any]], Any]


def kind_of(data: Data) -> str:
    """``path``, ``pandas``, ``polars`` or ``rows``."""
    if isinstance(data, (str, os.PathLike)):
        return "path"
    module = type(data).__module__.split(".")[0]
    return module if module in ("pandas", "polars") else "rows"


def rows_of(data: Data) -> list[dict[str, Any]]:
    """The rows of anything but a path; missing values are ``None``."""
    kind = kind_of(data)
    if kind == "pandas":
        rows = data.to_dict(orient="records")
    elif kind == "polars":
        rows = data.to_dicts()
    else:
        rows = [dict(row) for row in data]
    return [{str(key): _plain(value) for key, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers of numpy become numbers, what is missing becomes ``None``."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value)


def as_file(data: Data, folder: Path, name: str) -> str:
    """The path of the data; rows and frames are written into ``folder`` first.

    A path is handed on as it is, so that the program names it in its messages.
    """
    if kind_of(data) == "path":
        return os.fspath(data)
    path = folder / f"{name}.jsonl"
    # Only the user may read it: reviews are confidential.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        for row in rows_of(data):
            present = {key: value for key, value in row.items() if value is not None}
            file.write(json.dumps(present, ensure_ascii=False, allow_nan=False) + "\n")
    return str(path)


def table_of(rows: list[dict[str, Any]], kind: str) -> Any:
    """Rows as a frame of ``kind``; a list of dicts for anything but ``pandas`` and ``polars``."""
    if kind == "pandas":
        import pandas

        return pandas.DataFrame.from_records(rows)
    if kind == "polars":
        import polars

        return polars.DataFrame(rows, infer_schema_length=None)
    return rows
