"""What all bodies share."""

from pydantic import BaseModel, ConfigDict

from selfright.answer_form import Reply


class Request(BaseModel):
    """A body that is sent to the service. A name that it does not know is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ErrorBody(Reply):
    """What went wrong: ``message`` says what was expected, what came, and what to do; ``param`` names the culprit."""

    message: str
    type: str
    code: str
    param: str | None = None


class ErrorReply(Reply):
    """The body of every reply that is no success, in the form of OpenAI's API."""

    error: ErrorBody
