"""The error of a call that makes no sense."""

from __future__ import annotations

from typing import Optional

from ._ctx import CtxError


def usage(message: str, pointer: Optional[str] = None) -> CtxError:
    """Return it; ``pointer`` tells where in what was given."""
    error = CtxError(message)
    error.code, error.pointer, error.position, error.help = "usage", pointer, None, None
    return error
