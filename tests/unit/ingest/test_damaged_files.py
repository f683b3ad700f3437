"""Files with bytes changed, cut and doubled: each is read or refused in one line, soon."""

import json
import random
import time
from pathlib import Path

import pytest

from selfright.domain.errors import UnreadableFile
from selfright.domain.passages import Document
from selfright.ingest.files import SourceFile
from selfright.ingest.reading import read
from tests.support.office import hwpx

TABLE = (
    '<hp:tbl><hp:tr><hp:tc><hp:cellSpan colSpan="2" rowSpan="1"/><hp:p><hp:run><hp:t>값</hp:t></hp:run></hp:p></hp:tc>'
)
WHOLE = {
    ".html": b"<h1>A</h1><table><tr><th rowspan=2>a<th>b<tr><td colspan=3>1</table><dl><dt>x<dd>y</dl><ol><li>z</ol>",
    ".hwpx": hwpx(f"<hp:p><hp:run>{TABLE}</hp:tr></hp:tbl></hp:run></hp:p>"),
    ".json": json.dumps([{"name": "a", "of": [{"b": [1, "값"]}]}, {"question": "c", "answer": "d"}]).encode(),
    ".csv": '"sep=;"\na;b\n"1";2,5\n\nc;d\n값;"4\n5"\n'.encode(),
}  # fmt: skip


@pytest.mark.parametrize("suffix", WHOLE)
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, suffix: str) -> None:
    chance = random.Random(7)  # the same files each time
    path = tmp_path / f"x{suffix}"
    for _ in range(100):
        data = bytearray(WHOLE[suffix])
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data))
            change = (bytes([chance.randrange(256)]), b"", data[at : at + 20] * 2)[chance.randrange(3)]
            data[at : at + chance.randint(0, 3)] = change
        path.write_bytes(data)
        began = time.perf_counter()
        try:
            for item in read(SourceFile(path, path.name)):
                said = item.text if isinstance(item, Document) else item.why
                said.encode()
        except UnreadableFile as error:
            assert "\n" not in error.why  # noqa: PT017 - either outcome is right
        assert time.perf_counter() - began < 5
