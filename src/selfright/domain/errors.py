"""What can go wrong. Each message says what was expected, what came, and what to do.

* SelfrightError
  + UsageError              the caller asked for something that does not exist (exit code 2)
    - UnknownName           an unknown flag, preset, option or value; the nearest valid name is given
  + SettingsError           a settings file or variable cannot be used
  + InputError              a question or file cannot be used
    - UnreadableFile        one file that could not be read; the others go on
  + StoreError
    - IndexNotFound         there is no index there
    - NotAnIndex            something else is there
    - IncompatibleIndex     made by another version, tokenizer or embedder
    - IndexBusy             another process is writing; can be retried
    - IndexDamaged          a file of the index is broken
  + MissingExtra            an optional package is not installed
  + ModelError
    - ModelFilesDamaged     the encoder's weights are not the ones that were pinned
    - EmbeddingFailed       an embedding model failed or gave what are no vectors; can be retried
    - JudgeFailed           a judge failed, timed out or answered garbage
"""

import difflib
from collections.abc import Iterable


class SelfrightError(Exception):
    """Base class: catch this to catch everything Selfright raises. ``retryable``: may help to try again."""

    exit_code = 1
    retryable = False


class UsageError(SelfrightError):
    """The caller asked for something that does not exist."""

    exit_code = 2


class UnknownName(UsageError):
    """An unknown flag, preset, option or value."""

    def __init__(self, kind: str, given: str, valid: Iterable[str]) -> None:
        names = sorted(valid)
        near = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'?" if near else f"choose one of: {', '.join(names)}"
        super().__init__(f"unknown {kind} '{given}': {hint}")


class SettingsError(SelfrightError):
    """A settings file or variable cannot be used."""

    exit_code = 2


class InputError(SelfrightError):
    """A question or a file cannot be used as given."""


class UnreadableFile(InputError):
    """One file that could not be read; ``path`` names it and the message says why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class StoreError(SelfrightError):
    """Something is wrong with the index."""


class IndexNotFound(StoreError):
    """There is no index at the given place."""


class NotAnIndex(StoreError):
    """Something that is not a Selfright index is at the given place."""


class IncompatibleIndex(StoreError):
    """The index was made by another version, tokenizer or embedder."""


class IndexBusy(StoreError):
    """Another process is writing to the index."""

    retryable = True


class IndexDamaged(StoreError):
    """A file of the index is broken."""


class MissingExtra(SelfrightError):
    """An optional package is not installed."""

    def __init__(self, what: str, command: str) -> None:
        super().__init__(f"{what} is not installed; install it with: {command}")


class ModelError(SelfrightError):
    """A model could not be used."""


class ModelFilesDamaged(ModelError):
    """The encoder's weights are not the ones that were pinned."""


class EmbeddingFailed(ModelError):
    """An embedding model failed, or answered anything but one finite vector for each text."""

    retryable = True


class JudgeFailed(ModelError):
    """A judge failed, timed out or answered garbage; the turn goes on with the verdict ``unknown``."""

    retryable = True
