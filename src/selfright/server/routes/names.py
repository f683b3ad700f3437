"""Names of documents, sessions and users in a path: any characters, slashes and line breaks among them."""

from starlette.convertors import PathConvertor, register_url_convertor


class _Name(PathConvertor):
    regex = "(?s:.*)"  # that of ``path`` stops at a line break, and takes "a" for "a\n"


NAME = "name"
register_url_convertor(NAME, _Name())
