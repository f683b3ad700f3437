"""The documents of the index: add, look for, delete."""

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from selfright.ui.markup import items, plain, tag, text
from selfright.ui.state import Memory, error_text, keep_message, memory, report_errors, service, who
from selfright.ui.words import Words
from selfright.wire.answers import DocumentLine
from selfright.wire.client import Client, ServiceError

PAGE = 25
MOST_PAGES = 20
MOST_NAMED = 200
TYPES = (
    *("txt", "md", "markdown", "mdx", "html", "htm", "pdf", "hwp", "hwpx"),
    *("docx", "docm", "doc", "rtf", "odt", "epub", "pptx", "pptm", "ppsx", "ppt", "odp", "xlsx", "xlsm", "xls", "ods"),
    *("csv", "tsv", "json", "jsonl", "ndjson"),
)
"""What the service reads, by suffix."""

_LINES, _PAGES = "upload-lines", "pages"


def show_documents() -> None:
    """The documents, and how to add more."""
    mind = memory()
    known = who(mind)
    if known is None:
        return
    client, words = service(mind), mind.words
    st.title(words["documents"], anchor=False)
    with report_errors(mind):
        if known.admin or known.collections:
            _upload(mind, client)
        else:
            st.caption(words["read_only"])
        _list(mind, client)


def _upload(mind: Memory, client: Client) -> None:
    words = mind.words
    st.header(words["upload"], anchor=False)
    with st.form(f"upload-{mind.uploads}"):
        files = st.file_uploader(words["upload_pick"], type=list(TYPES), accept_multiple_files=True)
        names = [each.name for each in client.collections() if each.writable]
        collection = st.selectbox(words["collection"], names or ["default"])  # which is there before any document is
        sent = st.form_submit_button(words["upload_do"], type="primary")
    place = st.container()  # always there, so that what follows stays where it is while files are read
    if sent and files:
        with place:
            st.session_state[_LINES] = _send(mind, client, files, collection)
        mind.uploads += 1  # another form has no files in it
        st.rerun()
    lines = st.session_state.pop(_LINES, None)
    if lines:
        place.html(tag("section", items(lines), cls="selfright uploads", role="status"))


def _send(mind: Memory, client: Client, files: Sequence[UploadedFile], collection: str) -> list[str]:
    """Sends file by file, so that one that cannot be read stops no other; a line of markup for each outcome."""
    words, lines = mind.words, []
    with st.status(words["upload"]) as status:
        bar = st.progress(0.0)
        for n, file in enumerate(files, start=1):
            status.update(label=plain(words["uploading"].format(name=file.name, n=n, of=len(files))))
            bar.progress((n - 1) / len(files))
            lines += _send_one(mind, client, file, collection)
        bar.progress(1.0)
    return lines


def _send_one(mind: Memory, client: Client, file: UploadedFile, collection: str) -> list[str]:
    words = mind.words
    try:
        reply = client.upload([(file.name, file.getvalue())], collection)
    except ServiceError as error:
        return [_failure(file.name, error_text(error, mind), words)]
    lines = []
    for each in reply.files:
        counts = {name: getattr(each, name) for name in ("name", "added", "replaced", "unchanged", "passages")}
        lines.append(f"✓ {text(words['uploaded'].format(**counts))}")
        lines += [_failure(each.name, why, words) for why in each.errors]
    return lines


def _failure(name: str, why: str, words: Words) -> str:
    """What went wrong with a file; the service may have named it already."""
    return f"✗ {text(words['upload_failed'].format(name=name, why=why.removeprefix(f'{name}: ')))}"


def _list(mind: Memory, client: Client) -> None:
    words = mind.words
    st.header(words["indexed"], anchor=False)
    named = st.text_input(words["find_document"], max_chars=MOST_NAMED, key="named", icon=":material/search:").strip()
    wanted = st.session_state.get(_PAGES, 1)
    documents, more = _read(client, wanted, named)
    if not documents:
        st.caption(words["no_such_document"].format(said=plain(named)) if named else words["no_documents"])
        return
    for number, line in enumerate(documents):
        _row(mind, client, line, number)
    if more and wanted < MOST_PAGES and st.button(words["more_documents"], key="more"):
        st.session_state[_PAGES] = wanted + 1
        st.rerun()


def _read(client: Client, pages: int, named: str) -> tuple[list[DocumentLine], bool]:
    documents: list[DocumentLine] = []
    after = ""
    for _ in range(pages):
        reply = client.documents(after=after, limit=PAGE, named=named)
        documents += reply.documents
        if reply.next is None:
            return documents, False
        after = reply.next
    return documents, True


def _row(mind: Memory, client: Client, line: DocumentLine, number: int) -> None:
    """A document with its button; ``data-row`` says to screen readers which one the button is of."""
    words = mind.words
    said = words["document_line"].format(
        collection=line.collection,
        language=words.get(f"language_{line.language}", line.language),
        characters=line.characters,
        passages=line.passages,
    )
    parts = [tag("strong", text(line.title or line.id)), tag("span", text(line.id), cls="quiet place")]
    shown = "".join([*parts, tag("span", text(said), cls="quiet")])
    with st.container(horizontal=True, key=f"row-{number}", vertical_alignment="center", border=True):
        st.html(tag("div", shown, cls="selfright document", data_row=line.id))
        if not line.removable:
            return
        if mind.deleting != line.id:
            st.button(words["remove_do"], key=f"delete-{number}", on_click=setattr, args=(mind, "deleting", line.id))
            return
    st.warning(plain(words["remove_sure"].format(name=line.id)))
    with st.container(horizontal=True, key=f"row-sure-{number}"):
        st.html(tag("span", "", data_row=line.id), width="content")
        st.button(words["remove_yes"], key="sure", type="primary", on_click=_delete, args=(mind, client, line.id))
        st.button(words["remove_no"], key="keep", on_click=setattr, args=(mind, "deleting", ""))


def _delete(mind: Memory, client: Client, document_id: str) -> None:
    mind.deleting = ""
    with keep_message(mind):
        client.delete_document(document_id)
        mind.on_text = mind.words["removed_done"].format(name=document_id)
