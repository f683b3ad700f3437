"""What makes a question lean towards the other language: the file of its steps, and its effect on real vectors."""

from pathlib import Path

import numpy as np
import pytest

from selfright.domain.errors import ModelFilesDamaged
from selfright.domain.passages import Language
from selfright.models.encoder import E5, read_leaning
from selfright.models.files import FOLDER, LIST

SUBJECTS = [
    ("The lamp of the lighthouse is changed every 90 days.", "등대의 등은 90일마다 교체한다."),
    ("The museum is closed on public holidays.", "박물관은 공휴일에 문을 닫는다."),
    ("Staff who travel abroad need an approved request.", "해외로 출장을 가는 직원은 승인된 신청서가 필요하다."),
]


@pytest.mark.parametrize(
    ("language", "questions"),
    [
        ("en", ["How often is the lamp changed?", "When is the museum closed?", "Who may travel abroad?"]),
        ("ko", ["등은 얼마나 자주 교체하나요?", "박물관은 언제 닫나요?", "해외 출장에는 무엇이 필요한가요?"]),
    ],
)
def test_the_other_language_comes_nearer_and_the_own_one_stays(language: Language, questions: list[str]) -> None:
    encoder = E5()
    passages = encoder.embed([text for pair in SUBJECTS for text in pair]).reshape(3, 2, 384)
    own, other = passages[:, int(language == "ko")], passages[:, int(language == "en")]
    for question in questions:
        before = encoder.embed_query(question)
        added = encoder.cross_language_penalty(before, language) - before
        assert np.abs(own @ added).max() < 0.02
        assert (other @ added).min() > 0.02


def test_a_file_that_is_not_the_shipped_one_is_named(tmp_path: Path) -> None:
    (tmp_path / LIST).symlink_to(FOLDER / LIST)
    with pytest.raises(ModelFilesDamaged, match="cannot read"):
        read_leaning(tmp_path)
    (tmp_path / "leaning.npz").write_bytes((FOLDER / "leaning.npz").read_bytes()[:-1])
    with pytest.raises(ModelFilesDamaged, match="should have the SHA-256"):
        read_leaning(tmp_path)
