"""``/v1/documents`` and ``/v1/collections``: what is searched, as far as the caller may see it."""

from contextlib import suppress
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Path, Query, Request

from selfright.domain.errors import IndexNotFound
from selfright.domain.passages import DEFAULT_COLLECTION, Document
from selfright.entrypoints.server.errors import Refused
from selfright.entrypoints.server.service import Caller, Service, caller_of, in_thread, service_of
from selfright.entrypoints.server.uploads import FORM, receive_upload, take_in
from selfright.entrypoints.wire.answers import CollectionsReply, DocumentReply, DocumentsReply, UploadReply
from selfright.entrypoints.wire.user_data import DeletedReply, ExamplesReply

router = APIRouter(tags=["documents"])
Id = Annotated[str, Path(min_length=1, max_length=1_000)]


@router.get("/v1/collections", response_model=CollectionsReply)
async def list_collections(request: Request) -> Any:
    """Lists the named parts of the index that the caller may search."""
    caller, selfright = caller_of(request), service_of(request).selfright
    try:
        found = await in_thread(selfright.collections)
    except IndexNotFound:
        found = []
    return {
        "collections": [
            {
                "name": each.name,
                "description": each.description,
                "documents": each.documents,
                "writable": caller.changes(each.name),
            }
            for each in found
            if caller.sees(each.name)
        ]
    }


@router.get("/v1/documents", response_model=DocumentsReply)
async def list_documents(
    request: Request,
    collection: Annotated[str | None, Query(max_length=200)] = None,
    after: Annotated[str, Query(max_length=1_000)] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    named: Annotated[str, Query(max_length=200, description="only those with this in their title or id")] = "",
) -> Any:
    """Lists documents, ordered by id, a page at a time."""
    wanted = _Wanted(collection, after, limit, named)
    return await in_thread(_page, service_of(request), caller_of(request), wanted)


@router.get("/v1/examples", response_model=ExamplesReply)
async def examples(request: Request, language: Annotated[Literal["en", "ko"], Query()] = "en") -> Any:
    """Lists up to three questions that the documents have something on, those in `language` first."""
    service = service_of(request)
    try:
        collections = await service.within(caller_of(request), [])
        return {"questions": await service.selfright.aexamples(language, collections)}
    except (IndexNotFound, Refused):
        return {"questions": []}


@router.post("/v1/documents", response_model=UploadReply, openapi_extra=FORM)
async def upload(request: Request) -> Any:
    """Adds files to the index: the form's `files`, into its `collection`. One that cannot be read stops no other."""
    caller, service = caller_of(request), service_of(request)
    if not caller.changes_any:  # before anything of the body is read
        raise Refused(403, "read_only", "this key may not change documents")
    async with receive_upload(request, service.limits) as sent:
        collection = sent.collection or (caller.collections[0] if caller.collections else DEFAULT_COLLECTION)
        if not caller.changes(collection):
            raise Refused(403, "read_only", f"this key may not change collection '{collection}'", param="collection")
        return await take_in(service, sent, collection, apart=bool(caller.collections))


@router.get("/v1/documents/{document_id:path}", response_model=DocumentReply)
async def get_document(document_id: Id, request: Request) -> Any:
    """Shows a document with its text."""
    document = await in_thread(_visible, service_of(request), caller_of(request), document_id)
    return {
        "id": document.id,
        "title": document.title,
        "collection": document.collection,
        "language": document.language,
        "url": document.url,
        "media_type": document.media_type,
        "metadata": dict(document.metadata),
        "text": document.text,
    }


@router.delete("/v1/documents/{document_id:path}", response_model=DeletedReply)
async def delete_document(document_id: Id, request: Request) -> Any:
    """Removes a document; its text is gone from every result."""
    caller, service = caller_of(request), service_of(request)
    async with service.writing:
        document = await in_thread(_visible, service, caller, document_id)
        if not caller.changes(document.collection):
            raise Refused(403, "read_only", f"this key may not change collection '{document.collection}'")
        removed = await in_thread(service.selfright.remove, [document_id])
    return {"deleted": len(removed)}


class _Wanted(NamedTuple):
    """Which documents are to be listed."""

    collection: str | None
    after: str
    limit: int
    named: str


def _page(service: Service, caller: Caller, wanted: _Wanted) -> dict[str, Any]:
    within = caller.collections if wanted.collection is None else (wanted.collection,)
    found = []
    if wanted.collection is None or caller.sees(wanted.collection):
        with suppress(IndexNotFound):
            found = service.selfright.document_page(wanted.after, wanted.limit + 1, within, wanted.named)
    page = found[: wanted.limit]
    names = ("id", "title", "collection", "language", "characters", "passages")
    return {
        "documents": [
            {**{name: getattr(info, name) for name in names}, "removable": caller.changes(info.collection)}
            for info in page
        ],
        "next": page[-1].id if len(found) > wanted.limit else None,
    }


def _visible(service: Service, caller: Caller, document_id: str) -> Document:
    try:
        document = service.selfright.document(document_id)
    except IndexNotFound:
        document = None
    if document is None or not caller.sees(document.collection):
        raise Refused(404, "document_not_found", f"there is no document '{document_id}'", param="document_id")
    return document
