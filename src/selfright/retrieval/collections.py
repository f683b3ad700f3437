"""What the operator says of the collections of an index."""

import json

from selfright.domain.judgements import QueryClass
from selfright.domain.routing import Collection
from selfright.retrieval.catalogue import Catalogue
from selfright.retrieval.catalogue_writer import CatalogueWriter
from selfright.retrieval.checksums import seal
from selfright.retrieval.records import damaged


class CollectionTable:
    """Reads and writes the catalogue's table of collections."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def all(self) -> list[Collection]:
        """Those that have documents and those that were described, by name; raises ``IndexDamaged``."""
        counts = self._catalogue.stats().collections
        described = {}
        with self._catalogue.connections.reading() as connection:
            rows = connection.execute("SELECT name, description, classes, slots, crc FROM collections").fetchall()
        for name, description, classes, slots, crc in rows:
            if seal(name, description, classes, slots) != crc:
                raise damaged(self._catalogue.path, f"the description of collection '{name}'")
            described[name] = Collection(
                name,
                description,
                tuple(QueryClass(value) for value in json.loads(classes)),
                tuple(json.loads(slots)),
                counts[name],
            )
        found = {name: Collection(name, documents=count) for name, count in counts.items() if count}
        return [collection for _, collection in sorted({**found, **described}.items())]

    def describe(self, writer: CatalogueWriter, collection: Collection) -> None:
        """Keeps a description in place of the one before, within the open step of the writer."""
        classes = json.dumps([value.value for value in collection.classes])
        columns = (collection.name, collection.description, classes, json.dumps(list(collection.slots)))
        writer.describe((*columns, seal(*columns)))
