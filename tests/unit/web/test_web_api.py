"""How providers are asked: waiting, keys, addresses."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from selfright.domain.errors import SettingsError
from selfright.resilience import retry_after
from selfright.web.provider import key_from
from selfright.web.services import Tavily
from tests.support.web_rooms import guard


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-7", 0.0), ("", None), ("soon", None), ("nan", None), ("inf", None), ("1e400", None)],
)
def test_seconds_to_wait(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}) == seconds


def test_a_date_to_wait_for() -> None:
    later = datetime.now(UTC) + timedelta(seconds=90)
    assert retry_after({"retry-after": format_datetime(later, usegmt=True)}) == pytest.approx(90, abs=3)
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert retry_after({"retry-after": "Wed, 99 Oct 2015"}) is None


def test_keys_come_from_the_environment() -> None:
    assert key_from({"K": " abc-1 "}, "K", "p") == "abc-1"
    with pytest.raises(SettingsError, match="needs its key in the environment variable K"):
        key_from({"K": "  "}, "K", "p")
    for bad in ("abc\r\nX: y", "a b", "키", "a\x00b"):
        with pytest.raises(SettingsError) as told:
            key_from({"K": bad}, "K", "p")
        assert bad not in str(told.value)


@pytest.mark.parametrize("url", ["ftp://h", "h:80", "http://u:p@h/", "http://0x7f.1/", ""])
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(SettingsError, match="base URL of tavily"):
        Tavily(url, guard())
