"""Errors of a call as JSON, and back: a replay must fail where the turn failed, and with the same words.

Only errors of the domain come back as themselves. Of all others just the name is kept, for their text may quote
anything, and what comes back has that name and no more.
"""

import inspect
from collections.abc import Mapping
from typing import Any

from selfright.domain import errors
from selfright.domain.errors import SelfrightError

_DETAILS = ("status", "retry_after", "called", "requests")
_LONGEST = 500
_PLAIN: dict[str, type[Exception]] = {
    "NotImplementedError": NotImplementedError
}  # what a model's library says of a mode that it cannot do


def error_form(error: Exception) -> dict[str, Any]:
    """The class, and of an error of the domain its words and details."""
    kind = next((base for base in type(error).__mro__ if vars(errors).get(base.__name__) is base), None)
    if kind is None:
        return {"name": type(error).__name__}
    details = {name: getattr(error, name) for name in _DETAILS if hasattr(error, name)}
    return {"name": type(error).__name__, "as": kind.__name__, "message": str(error)[:_LONGEST], "details": details}


def error_of(form: Mapping[str, Any]) -> Exception:
    """The error again. Raises ``ValueError`` for what is no error's form."""
    name, message = form.get("name"), form.get("message", "")
    if not isinstance(name, str) or not name.isidentifier() or not isinstance(message, str):
        raise ValueError("a recording holds an error of no known form")
    base = vars(errors).get(form["as"]) if isinstance(form.get("as"), str) else Exception
    if not (isinstance(base, type) and issubclass(base, SelfrightError)):
        kind: type[Exception] = _PLAIN.get(name) or type(name, (Exception,), {})
        return kind(message)
    worded: type[Exception] = type(name, (base,), {"__init__": _worded})
    error = worded(message)
    details = form.get("details", {})
    for detail in _DETAILS if isinstance(details, dict) else ():
        if detail in details or detail in inspect.signature(base.__init__).parameters:
            setattr(error, detail, _scalar(details.get(detail)))
    return error


def _worded(self: Exception, message: str) -> None:
    """Errors differ in what they are made of; here only the words they ended up with count."""
    Exception.__init__(self, message)


def _scalar(value: object) -> object:
    return value if value is None or isinstance(value, bool | int | float) else None
