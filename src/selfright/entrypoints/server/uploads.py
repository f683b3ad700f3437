"""Files that callers send: kept in a folder of their own while they are read, under names that we choose."""

import secrets
import shutil
import tempfile
import unicodedata
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from selfright.domain.errors import UnreadableFile
from selfright.entrypoints.server.admission import Limits
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.service import Service, in_thread

_MOST_NAME = 150
_MOST_FIELD_BYTES = 1_000
_MOST_ERRORS = 20
_TYPE = "multipart/form-data"

FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            _TYPE: {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
                        "collection": {"type": "string", "maxLength": 200},
                    },
                }
            }
        },
    }
}


@dataclass(frozen=True, slots=True)
class Sent:
    """What came in a form: ``files`` are pairs of the name given and the file as it came, ``collection`` may be ""."""

    files: Sequence[tuple[str, UploadFile]]
    collection: str


@asynccontextmanager
async def receive_upload(request: Request, limits: Limits) -> AsyncIterator[Sent]:
    """The form of an upload; its parts are gone afterwards. Raises ``Refused``."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise Refused(415, "no_form", f"a form of type {_TYPE} was expected, with the part 'files'")
    try:
        form = await request.form(max_files=limits.upload_files, max_fields=4, max_part_size=_MOST_FIELD_BYTES)
    except Refused:
        raise
    except (MultiPartException, HTTPException) as error:
        why = error.message if isinstance(error, MultiPartException) else error.detail
        raise Refused(400, "bad_form", f"the form cannot be read: {why}") from None
    try:
        yield _checked(form)
    finally:
        await form.close()


async def take_in(service: Service, sent: Sent, collection: str, *, apart: bool) -> dict[str, Any]:
    """Reads and indexes the files one by one. Raises ``Refused`` (422) when nothing in any of them could be read."""
    async with service.taking_in():
        taken = [await _take(service, name, file, collection, apart) for name, file in sent.files]
    service.metrics.indexed(sum(each["passages"] for each in taken))
    if not any(each["added"] + each["replaced"] + each["unchanged"] for each in taken):
        said = "; ".join(f"{each['name']}: {error}" for each in taken for error in each["errors"][:1])
        raise Refused(422, "unreadable", said or "there is no document in it", param="files")
    return {"collection": collection, "files": taken}


async def _take(service: Service, name: str, file: UploadFile, collection: str, apart: bool) -> dict[str, Any]:
    empty = {"name": name[:_MOST_NAME], "added": 0, "replaced": 0, "unchanged": 0, "passages": 0, "documents": []}
    try:
        safe = safe_name(name)
        told = await in_thread(_read, service, safe, file, collection, apart)
    except UnreadableFile as error:
        return {**empty, "errors": [error.why]}
    return {**empty, **told}


def _read(service: Service, name: str, file: UploadFile, collection: str, apart: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="selfright-upload-") as folder:
        path = Path(folder) / f"{secrets.token_hex(8)}{Path(name).suffix.lower()}"
        with path.open("xb") as kept:
            shutil.copyfileobj(file.file, kept)
        report = service.selfright.take_in(path, name, collection=collection, apart=apart)
    errors = [why for _, why in report.failed]
    return {
        "added": report.added,
        "replaced": report.replaced,
        "unchanged": report.unchanged,
        "passages": report.passages,
        "documents": list(report.documents),
        "errors": errors[:_MOST_ERRORS],
    }


def safe_name(name: str) -> str:
    """The name, when it is a plain file name. Raises ``UnreadableFile`` for one that leads somewhere."""
    plain = unicodedata.normalize("NFC", name)
    if not plain or len(plain) > _MOST_NAME:
        raise UnreadableFile("", f"a file name of 1 to {_MOST_NAME} characters was expected; rename it")
    if any(character in "/\\:" or unicodedata.category(character)[0] == "C" for character in plain):
        raise UnreadableFile("", "a plain file name was expected, without folders and control characters; rename it")
    if plain.startswith("."):
        raise UnreadableFile("", "a hidden file is not taken; rename it")
    return plain


def _checked(form: FormData) -> Sent:
    files = [(part.filename or "", part) for part in form.getlist("files") if isinstance(part, UploadFile)]
    collection = form.get("collection", "")
    if not files or len(files) != len(form.getlist("files")):
        raise Refused(
            400, "no_files", "no file came; send one or more parts 'files', each with a file name", param="files"
        )
    if unknown := sorted(set(form) - {"files", "collection"}):
        raise Refused(400, "bad_form", f"the form has a part '{unknown[0][:100]}'; known are 'files' and 'collection'")
    if not isinstance(collection, str) or len(collection) > 200:
        raise Refused(400, "bad_form", "'collection' must be a name of at most 200 characters", param="collection")
    return Sent(files, collection.strip())
