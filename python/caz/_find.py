"""Where the program is."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from ._errors import MissingError


def find_caz_bin() -> Path:
    """The path of the program ``caz``.

    Looks at the environment variable ``CAZ_BIN``, then where this package's wheel puts programs,
    then along ``PATH``.

    Raises
    ------
    MissingError
        If it is in none of these places.
    """
    named = os.environ.get("CAZ_BIN")
    if named:
        if Path(named).is_file():
            return Path(named)
        raise MissingError(f"CAZ_BIN names `{named}`, which is no file", 4)
    name = "caz.exe" if sys.platform == "win32" else "caz"
    user_scheme = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else (
        "nt_user" if sys.platform == "win32" else "posix_user"
    )
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=user_scheme),
        # `pip install --target FOLDER` puts programs into FOLDER/bin.
        str(Path(__file__).resolve().parent.parent / "bin"),
    ]
    for folder in folders:
        if folder and (Path(folder) / name).is_file():
            return Path(folder) / name
    found = shutil.which(name)
    if found:
        return Path(found)
    raise MissingError(
        "the program `caz` is not installed; install the wheel, or name it in CAZ_BIN", 4
    )
