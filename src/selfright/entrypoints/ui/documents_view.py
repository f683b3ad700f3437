"""The documents of the index: add, look through, remove."""

from collections.abc import Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from selfright.entrypoints.client import Client, DocumentLine, ServiceError
from selfright.entrypoints.ui.markup import items, plain, table, tag, text
from selfright.entrypoints.ui.state import Memory, memory, said_of, service, told, who
from selfright.entrypoints.ui.words import Words

PAGE = 100
MOST_PAGES = 20
TYPES = (
    *("txt", "md", "markdown", "html", "htm", "pdf", "docx", "pptx", "xlsx", "hwpx", "odt"),
    *("csv", "tsv", "json", "jsonl", "ndjson"),
)
"""What the service reads, by suffix."""

_LINES = "upload-lines"


def show_documents() -> None:
    """The documents, and how to add more."""
    mind = memory()
    if who(mind) is None:
        return
    client, words = service(mind), mind.words
    st.title(words["documents"], anchor=False)
    with told(mind):
        _upload(mind, client)
        _list(mind, client)


def _upload(mind: Memory, client: Client) -> None:
    words = mind.words
    st.header(words["upload"], anchor=False)
    with st.form(f"upload-{mind.uploads}"):
        files = st.file_uploader(words["upload_pick"], type=list(TYPES), accept_multiple_files=True)
        collection = st.selectbox(words["collection"], _writable(client))
        sent = st.form_submit_button(words["upload_do"], type="primary")
    if sent and files:
        st.session_state[_LINES] = _send(mind, client, files, collection)
        mind.uploads += 1  # another form has no files in it
        st.rerun()
    lines = st.session_state.pop(_LINES, None)
    if lines:
        st.html(tag("section", items(lines), cls="selfright uploads", role="status"))


def _writable(client: Client) -> list[str]:
    """Where documents may go; "default" is there before the first document is."""
    names = [each.name for each in client.collections() if each.writable]
    return names or ["default"]


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
        return [f"✗ {text(words['upload_failed'].format(name=file.name, why=said_of(error, words)))}"]
    lines = []
    for each in reply.files:
        counts = {name: getattr(each, name) for name in ("name", "added", "replaced", "unchanged", "passages")}
        lines.append(f"✓ {text(words['uploaded'].format(**counts))}")
        lines += [f"✗ {text(words['upload_failed'].format(name=each.name, why=why))}" for why in each.errors]
    return lines


def _list(mind: Memory, client: Client) -> None:
    words = mind.words
    st.header(words["indexed"], anchor=False)
    wanted = st.session_state.get("pages", 1)
    documents, more = _read(client, wanted)
    if not documents:
        st.caption(words["no_documents"])
        return
    names = ("title", "document", "collection", "language", "characters", "passages")
    head = [text(words[f"column_{name}"]) for name in names]
    rows = [_row(line, words) for line in documents]
    st.html(tag("section", table(text(words["indexed"]), head, rows), cls="selfright listed documents"))
    if more and wanted < MOST_PAGES and st.button(words["more_documents"]):
        st.session_state["pages"] = wanted + 1
        st.rerun()
    _remove(mind, client, documents)


def _read(client: Client, pages: int) -> tuple[list[DocumentLine], bool]:
    documents: list[DocumentLine] = []
    after = ""
    for _ in range(pages):
        reply = client.documents(after=after, limit=PAGE)
        documents += reply.documents
        if reply.next is None:
            return documents, False
        after = reply.next
    return documents, True


def _row(line: DocumentLine, words: Words) -> list[str]:
    language = words.get(f"language_{line.language}", line.language)
    cells = (line.title or line.id, line.id, line.collection, language, f"{line.characters:,}", line.passages)
    return [text(cell) for cell in cells]


def _remove(mind: Memory, client: Client, documents: list[DocumentLine]) -> None:
    words = mind.words
    with st.expander(words["remove"]), st.form("remove"):
        chosen = st.selectbox(words["remove_pick"], [each.id for each in documents], index=None)
        if st.form_submit_button(words["remove_do"]) and chosen:
            client.delete_document(chosen)
            mind.say = words["removed_done"].format(name=chosen)
            st.rerun()
