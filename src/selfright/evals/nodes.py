"""Questions asked on a Ray cluster: what its nodes are told, and how they make sure that they ask the same system.

What travels are the settings as they are here, but no key and no password: those are each node's own. A node that
cannot open the index, or would not give the same rows, says why, and the run ends with that.
"""

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from selfright.api import Selfright
from selfright.domain.errors import SelfrightError, SettingsError, StoreError, UsageError
from selfright.evals import provenance
from selfright.evals.provenance import public
from selfright.evals.questions import Question
from selfright.evals.results import IndexFacts, Row, row_line
from selfright.evals.systems import System
from selfright.evals.worker import asked, lost, read_result, read_task, task_of
from selfright.ingest.ray_cluster import RayCluster
from selfright.retrieval.files import WriterLock
from selfright.retrieval.locations import shown
from selfright.settings import Settings, load_settings

ENTRY = f"{__name__}:start"

Asking = Callable[[Sequence[tuple[System, Question]]], Iterator[Row]]
"""Gives a row for each question, in their order."""

_HOMES, _LOCK, _TRIES = "selfright-node-", "lock", 5
_FILES = ("web_folder", "medcat_pack")
_ADDRESSES = ("llm", "models", "base_url", "web_base_url")
_JUDGES = ("passage_judge", "claim_judge")
_OBJECTS = ("retriever", "embeddings", "profiles")
_ELSEWHERE = ("python", "ir-measures")  # Ray looks at the one itself; with the other nothing is asked


@contextmanager
def asking_on(
    address: str, selfright: Selfright, values: Mapping[str, Any], judge: str, facts: IndexFacts
) -> Iterator[Asking]:
    """What asks on the cluster at ``address``, which is held on to meanwhile; see ``RayCluster`` for addresses.

    ``values`` are what ``selfright`` was opened with, and ``facts`` its index. What a node cannot do is done here.
    Raises ``MissingExtra`` without Ray, ``UsageError`` for values that are Python objects, and ``StoreError`` when a
    node cannot ask, or would ask another index.
    """
    setup = {**_told(selfright.settings, values), "judge": judge, "index": asdict(facts)}

    def here(task: Mapping[str, Any]) -> Any:
        return asked(selfright, *read_task(task), judge)

    try:
        with RayCluster(address) as cluster, cluster.workers(ENTRY, setup) as workers:
            yield lambda tasks: map(_row, workers.map((task_of(*task) for task in tasks), here, lost))
    finally:
        forget_homes()


def start(setup: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """A node's side: opens the index once, then answers tasks; with ``{"refused": why}`` where it cannot."""
    forget_homes()
    home, lock = _own_home()
    try:
        selfright = _opened(setup, home)
    except SelfrightError as error:
        lock.release()
        refusal = {"refused": f"node {platform.node()} of the Ray cluster cannot ask the questions: {error}"}
        return lambda _task: refusal

    def work(task: Mapping[str, Any]) -> Any:
        return json.loads(row_line(asked(selfright, *read_task(task), setup["judge"])))

    return work


def forget_homes() -> None:
    """Removes the homes of processes that are gone; Ray ends its workers without letting them clean up."""
    for home in Path(tempfile.gettempdir()).glob(f"{_HOMES}*"):
        lock = WriterLock(home / _LOCK)
        try:
            lock.acquire()
        except (SelfrightError, OSError):
            continue  # in use, or another user's
        shutil.rmtree(home, ignore_errors=True)
        lock.release()


def _own_home() -> tuple[str, WriterLock]:
    """A new home for this process, locked while it lives."""
    for _ in range(_TRIES):
        home = tempfile.mkdtemp(prefix=_HOMES)
        lock = WriterLock(Path(home) / _LOCK)
        try:
            lock.acquire()
        except (SelfrightError, OSError):
            continue  # taken for an old one in the moment between
        return home, lock
    raise StoreError(f"no folder of its own could be made in {tempfile.gettempdir()}")


def _row(result: Any) -> Row:
    if isinstance(result, Row):
        return result
    if "refused" in result:
        raise StoreError(result["refused"])
    return read_result(result)


# What is told


def _told(settings: Settings, values: Mapping[str, Any]) -> dict[str, Any]:
    """All settings and flags as they are here, paths in full, addresses without what opens them."""
    _check_plain(values)
    sent = {field.name: getattr(settings, field.name) for field in fields(settings)} | settings.flags_said
    for name in ("flags", "said", "home", "database"):
        del sent[name]
    for name in _FILES:
        sent[name] = sent[name] and os.path.abspath(sent[name])
    for name in _JUDGES:  # a folder that is here, or the name of a hub, which means the same everywhere
        folder = os.path.expanduser(sent[name] or "")
        sent[name] = os.path.abspath(folder) if os.path.isdir(folder) else sent[name]
    index = settings.index
    sent["index"] = os.path.abspath(index) if isinstance(index, Path) else shown(index)
    open_ = {name: public(sent[name]) for name in _ADDRESSES}
    withheld = [name for name in _ADDRESSES if open_[name] != sent[name]]
    return {"values": sent | open_, "withheld": withheld, "versions": _versions()}


def _check_plain(values: Mapping[str, Any]) -> None:
    models = {name: values.get(name) for name in ("llm", *_JUDGES)}
    models |= dict(values["models"] if isinstance(values.get("models"), Mapping) else {})
    objects = [name for name in _OBJECTS if values.get(name) is not None]
    objects += [name for name, model in models.items() if model is not None and not isinstance(model, str)]
    if objects:
        raise UsageError(
            f"'{objects[0]}' is a Python object, which cannot be sent to a cluster; name it by a setting "
            "(llm='provider:model', index='…'), or evaluate without ray"
        )


def _versions() -> dict[str, str]:
    return {name: version for name, version in provenance.versions().items() if name not in _ELSEWHERE}


# On a node


def _opened(setup: Mapping[str, Any], home: str) -> Selfright:
    """The same system again. Raises what opening raises, and ``StoreError`` when it is not the same."""
    _check_versions(setup["versions"])
    values = {**_completed(setup["values"], setup["withheld"]), "home": home, "database": ""}
    selfright = Selfright.open(**values)
    try:
        _check_index(selfright, setup["index"])
    except BaseException:
        selfright.close()
        raise
    return selfright


def _check_versions(expected: Mapping[str, str]) -> None:
    ours = _versions()
    for name in sorted(ours.keys() | expected.keys()):
        if ours.get(name) != expected.get(name):
            raise StoreError(
                f"it has {name} {ours.get(name, 'not installed')} where {expected.get(name, 'none')} was expected; "
                "install the same versions on all machines"
            )


def _completed(sent: Mapping[str, Any], withheld: Sequence[str]) -> dict[str, Any]:
    """What was sent, with the node's own passwords where it knows the same places."""
    for name in _FILES:
        if sent[name] and not Path(sent[name]).exists():
            raise SettingsError(f"setting '{name}' is {sent[name]}, and that is not to be seen there")
    own = load_settings()
    values = dict(sent)
    if isinstance(own.index, str) and shown(own.index) == sent["index"]:
        values["index"] = own.index
    for name in withheld:
        if public(getattr(own, name)) != sent[name]:
            raise SettingsError(
                f"the address in setting '{name}' has a password, which is not sent; "
                f"set SELFRIGHT_{name.upper()} on each node"
            )
        values[name] = getattr(own, name)
    return values


def _check_index(selfright: Selfright, expected: Mapping[str, Any]) -> None:
    place = selfright.settings.shown_index
    try:
        found = asdict(provenance.index_facts(selfright))
    except StoreError as error:
        raise StoreError(
            f"it cannot open the index at {place} ({error}); nodes open it by its address, so keep it in a folder that "
            "all of them see under the same path, or copy it to a server with 'selfright index copy'"
        ) from error
    if found != expected:
        raise StoreError(
            f"it finds another index at {place} ({found['documents']:,} documents instead of "
            f"{expected['documents']:,}, or others); all nodes must see the same one"
        )
