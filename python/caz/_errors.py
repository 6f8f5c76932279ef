"""Errors by kind, after the exit codes of the program."""

from __future__ import annotations

from typing import Any


class CazError(Exception):
    """The program did not give a result; the message is what it said."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        #: Exit code of the program.
        self.exit_code = exit_code
        #: What the program wrote to standard output all the same.
        self.output = ""


class GateFailed(CazError):
    """The run is done, but a bound that was asked for does not hold (exit code 1).

    ``result`` is what came out.
    """

    #: A :class:`caz.Result`; ``None`` if the program wrote none.
    result: Any = None


class UsageError(CazError):
    """The settings make no sense, alone or together (exit code 2)."""


class InputError(CazError):
    """The data are bad; the message names file, line and column (exit code 3)."""


class MissingError(CazError):
    """A file, model or key is missing (exit code 4)."""


class NetworkError(CazError):
    """The network or a server failed (exit code 5)."""


class Interrupted(CazError):
    """The run was interrupted (exit code 130)."""


_BY_CODE: dict[int, type[CazError]] = {
    1: GateFailed,
    2: UsageError,
    3: InputError,
    4: MissingError,
    5: NetworkError,
    130: Interrupted,
}


def error_of(exit_code: int, message: str) -> CazError:
    """The error for an exit code; :class:`CazError` itself for one that is not in the contract."""
    return _BY_CODE.get(exit_code, CazError)(message, exit_code)
