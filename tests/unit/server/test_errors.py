"""Every error of ours has its status, and none tells of the machine."""

import inspect

import pytest
from pydantic import ValidationError

from selfright.domain import errors
from selfright.domain.errors import InputError, SelfrightError, UnknownName, UnreadableFile
from selfright.server.errors import refusal_of, unusable_body
from selfright.wire.answers import AskRequest, SearchRequest

OTHERS = (UnknownName, UnreadableFile, errors.MissingExtra)  # made of something else
PLACE = "the index /srv/secret/index"
KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, SelfrightError) and kind not in OTHERS
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_is_told_without_the_machine(kind: type[SelfrightError]) -> None:
    refused = refusal_of(kind(PLACE))
    by_caller = issubclass(kind, errors.UsageError | InputError)
    assert (refused.status_code == 400) == by_caller
    assert by_caller or "/srv" not in refused.detail
    assert refused.body().message
    assert refused.status_code in (400, 403, 404, 409, 500, 502, 503)


def test_a_missing_extra_is_the_operators_business() -> None:
    assert refusal_of(errors.MissingExtra("x", "pip install x")).status_code == 500


def test_what_can_be_tried_again_says_when() -> None:
    for kind in (errors.SessionBusy, errors.IndexBusy, errors.ModelUnavailable):
        assert refusal_of(kind("busy")).headers


def test_the_names_of_collections_are_not_told() -> None:
    refused = refusal_of(UnknownName("collection", "mine", ["secret", "other"]))
    assert (refused.status_code, refused.code) == (404, "collection_not_found")
    assert "secret" not in refused.detail


def test_of_a_file_only_is_told_what_is_wrong_with_it() -> None:
    refused = refusal_of(UnreadableFile("/srv/secret/spool/0f.md", "it is empty"))
    assert (refused.status_code, refused.detail) == (422, "it is empty")


@pytest.mark.parametrize(
    ("form", "body", "said"),
    [
        (AskRequest, {"question": ""}, "'question': expected a text of 1 or more characters, but got ''"),
        (AskRequest, {"question": 7}, "'question': expected a text, but got 7"),
        (AskRequest, {}, "'question': it is missing"),
        (AskRequest, {"question": "a", "sesion": "s"}, "'sesion': there is no field of this name"),
        (AskRequest, {"question": "a", "mode": "x"}, "'mode': expected 'ai_agent' or 'llm', but got 'x'"),
        (SearchRequest, {"query": "a", "k": 0}, "'k': expected a number of at least 1, but got 0"),
        (SearchRequest, {"query": "a", "collections": "b"}, "'collections': expected a list, but got 'b'"),
        (SearchRequest, {"query": "a", "k": "b"}, "'k': expected a whole number, but got 'b'"),
        (SearchRequest, [], "'body': expected an object, but got []"),
    ],
    ids=str,
)
def test_a_body_that_is_wrong_is_told_what_was_expected_and_what_came(
    form: type[AskRequest | SearchRequest], body: object, said: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        form.model_validate(body)
    found = [{**error, "loc": ("body", *error["loc"])} for error in caught.value.errors()]
    refused = unusable_body(found)
    assert (refused.status_code, refused.detail) == (400, said)


def test_a_body_under_another_type_is_told_the_header() -> None:
    with pytest.raises(ValidationError) as caught:
        AskRequest.model_validate(b'{"question": "a"}')
    refused = unusable_body([{**error, "loc": ("body",)} for error in caught.value.errors()])
    assert (refused.status_code, refused.code) == (415, "no_json")
    assert "'Content-Type: application/json'" in refused.detail
