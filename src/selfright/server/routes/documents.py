"""``/v1/documents`` and ``/v1/collections``: what is searched, as far as the caller may see it; files that are sent."""

import secrets
import shutil
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import JSONResponse
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException

from selfright.background import Deadline
from selfright.domain.errors import IndexNotFound, UnreadableFile
from selfright.domain.passages import DEFAULT_COLLECTION, Document, DocumentInfo
from selfright.domain.routing import collection_name
from selfright.domain.text import compose_name
from selfright.server.admission import Limits
from selfright.server.errors import Refused
from selfright.server.service import NAME, Caller, Service, caller_of, in_thread, service_of
from selfright.server.turns import unless_gone
from selfright.wire.answers import CollectionsReply, DocumentsReply, UploadReply
from selfright.wire.user_data import DeletedReply

_MOST_NAME = 150
_MOST_FIELD_BYTES = 1_000
_MOST_ERRORS = 20
_FOLDERS = "selfright-sent-"
_LEFT_S = 86_400.0  # longer than anything takes to be read and indexed
_TYPE = "multipart/form-data"

_PARTS = {
    "files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
    "collection": {"type": "string", "maxLength": 200},
}
_SCHEMA = {"type": "object", "required": ["files"], "properties": _PARTS}
FORM: dict[str, Any] = {"requestBody": {"required": True, "content": {_TYPE: {"schema": _SCHEMA}}}}


Files = Sequence[tuple[str, UploadFile]]
"""What came in a form: the name given, and the file as it came."""


@asynccontextmanager
async def receive_upload(request: Request, limits: Limits) -> AsyncIterator[tuple[Files, str]]:
    """The files of an upload and the collection, which may be ""; both are gone afterwards. Raises ``Refused``."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise Refused(415, "no_form", f"a form of type {_TYPE} was expected, with the part 'files'")
    try:
        form = await request.form(max_files=limits.upload_files, max_fields=4, max_part_size=_MOST_FIELD_BYTES)
    except Refused:
        raise
    except (MultiPartException, HTTPException, UnicodeError) as error:  # of a 'charset' that decodes nothing
        why = getattr(error, "message", None) or getattr(error, "detail", None) or "its names are no text"
        raise Refused(400, "bad_form", f"the form cannot be read: {why}") from None
    try:
        yield _check_form(form)
    finally:
        await form.close()


async def take_in(service: Service, caller: Caller, files: Files, collection: str) -> dict[str, Any]:
    """Reads and indexes the files one by one. Raises ``Refused`` (422) when nothing in any of them could be read."""
    deadline = Deadline(service.limits.upload_s)
    with service.uploads.admit(caller.key):
        taken = [await _take(service, caller, name, file, collection, deadline) for name, file in files]
    service.metrics.note_indexed(sum(each["passages"] for each in taken))
    if not any(each["added"] + each["replaced"] + each["unchanged"] for each in taken):
        said = "; ".join(f"{each['name']}: {error}" for each in taken for error in each["errors"][:1])
        raise Refused(422, "unreadable", said or "there is no document in it", param="files")
    return {"collection": collection, "files": taken}


async def _take(
    service: Service, caller: Caller, name: str, file: UploadFile, collection: str, deadline: Deadline
) -> dict[str, Any]:
    empty = {"name": name[:_MOST_NAME], "added": 0, "replaced": 0, "unchanged": 0, "passages": 0, "documents": []}
    try:
        safe = safe_name(name)
        async with place_for(safe) as path:
            await in_thread(_copy, file, path)
            report = await service.take_in(caller, path, safe, collection, deadline)
    except UnreadableFile as error:
        return {**empty, "errors": [error.why]}
    return {**empty, **asdict(report), "errors": [why for _, why in report.failed[:_MOST_ERRORS]]}


@asynccontextmanager
async def place_for(name: str) -> AsyncIterator[Path]:
    """Where a file of that name may lie while it is read; gone afterwards."""
    folder = await in_thread(tempfile.TemporaryDirectory, prefix=_FOLDERS)
    try:
        yield Path(folder.name) / f"{secrets.token_hex(8)}{Path(name).suffix.lower()}"
    finally:
        await in_thread(folder.cleanup)


def remove_leftovers() -> None:
    """Removes what was sent to services that were killed while they read it, a day later."""
    try:
        folders = Path(tempfile.gettempdir()).glob(f"{_FOLDERS}*")
    except FileNotFoundError:  # there is no such folder, and only uploads need one
        return
    for folder in folders:
        with suppress(OSError):  # another service was faster, or it is another user's
            if folder.lstat().st_mtime < time.time() - _LEFT_S:
                shutil.rmtree(folder)


def _copy(file: UploadFile, path: Path) -> None:
    with path.open("xb") as kept:
        shutil.copyfileobj(file.file, kept)


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


def _check_form(form: FormData) -> tuple[Files, str]:
    files = [(part.filename or "", part) for part in form.getlist("files") if isinstance(part, UploadFile)]
    collection = form.get("collection", "")
    if not files or len(files) != len(form.getlist("files")):
        none = "no file came; send one or more parts 'files', each with a file name"
        raise Refused(400, "no_files", none, param="files")
    if unknown := sorted(set(form) - set(_PARTS)):
        raise Refused(400, "bad_form", f"the form has a part '{unknown[0][:100]}'; known are 'files' and 'collection'")
    if not isinstance(collection, str):
        raise Refused(400, "bad_form", "'collection' must be a name, not a file", param="collection")
    return files, collection_name(collection) if collection.strip() else ""


router = APIRouter(tags=["documents"])
Id = Annotated[str, InPath(min_length=1, max_length=1_000)]


@router.get("/v1/collections", response_model=CollectionsReply)
async def list_collections(request: Request) -> Any:
    """Lists the named parts of the index that the caller may search."""
    caller, selfright = caller_of(request), service_of(request).selfright
    try:
        found = await in_thread(selfright.collections)
    except IndexNotFound:
        found = []
    seen = [each for each in found if caller.sees(each.name)]
    return {"collections": [{**asdict(each), "writable": caller.changes(each.name)} for each in seen]}


@router.get("/v1/documents", response_model=DocumentsReply)
async def list_documents(
    request: Request,
    collection: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[str, Query(max_length=1_000)] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    named: Annotated[str, Query(max_length=200, description="only those with this in their title or id")] = "",
) -> Any:
    """Lists documents, ordered by id, a page at a time."""
    caller, selfright = caller_of(request), service_of(request).selfright
    within = caller.collections if collection is None else (compose_name(collection),)
    found: Sequence[DocumentInfo] = ()
    if collection is None or caller.sees(within[0]):
        with suppress(IndexNotFound):
            found = await in_thread(selfright.document_page, after, limit + 1, within, named)
    page = found[:limit]
    return {
        "documents": [{**asdict(info), "removable": caller.changes(info.collection)} for info in page],
        "next": page[-1].id if len(found) > limit else None,
    }


@router.post("/v1/documents", response_model=UploadReply, openapi_extra=FORM)
async def upload(request: Request) -> Any:
    """Adds files to the index: the form's `files`, into its `collection`. One that cannot be read stops no other."""
    caller, service = caller_of(request), service_of(request)
    if not (caller.collections or caller.admin):  # before anything of the body is read
        raise Refused(403, "read_only", "this key may not change documents")
    async with receive_upload(request, service.limits) as (files, named):
        collection = named or (caller.collections[0] if caller.collections else DEFAULT_COLLECTION)
        if not caller.changes(collection):
            raise Refused(403, "read_only", f"this key may not change collection '{collection}'", param="collection")
        return await unless_gone(request.receive, take_in(service, caller, files, collection))


@router.get(f"/v1/documents/{{document_id:{NAME}}}", response_model=Document)
async def get_document(document_id: Id, request: Request) -> Any:
    """Shows a document with its text, exactly as stored: spans of citations point into it."""
    found = asdict(await in_thread(_visible, service_of(request), caller_of(request), document_id))
    del found["source"]  # where it lay on this machine
    return JSONResponse(found)


@router.delete(f"/v1/documents/{{document_id:{NAME}}}", response_model=DeletedReply)
async def delete_document(document_id: Id, request: Request) -> Any:
    """Removes a document; its text is gone from every result."""
    caller, service = caller_of(request), service_of(request)
    async with service.writing:
        document = await in_thread(_visible, service, caller, document_id)
        if not caller.changes(document.collection):
            raise Refused(403, "read_only", f"this key may not change collection '{document.collection}'")
        removed = await in_thread(service.selfright.remove, [document_id])
    return {"deleted": len(removed)}


def _visible(service: Service, caller: Caller, document_id: str) -> Document:
    try:
        document = service.selfright.document(document_id)
    except IndexNotFound:
        document = None
    if document is None or not caller.sees(document.collection):
        raise Refused(404, "document_not_found", f"there is no document '{document_id}'", param="document_id")
    return document
