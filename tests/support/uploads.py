"""A file that somebody sent, taken in as the service does it."""

from contextlib import closing
from pathlib import Path

from selfright import Selfright
from selfright.wiring.uploads import UploadReport


def take_in(
    selfright: Selfright, path: Path, name: str, *, collection: str = "default", apart: bool = False
) -> UploadReport:
    with closing(selfright.read_upload(path, name)) as upload:
        report = selfright.store_upload(upload, collection=collection, apart=apart)
    selfright.embed()
    return report
