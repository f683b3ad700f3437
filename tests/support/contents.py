"""All that an index holds, comparable."""

from selfright.domain.stores import Store


def contents(store: Store) -> dict[str, object]:
    """Documents, passages and vectors by document id."""
    return {
        info.id: (
            store.document(info.id),
            store.passages_of(info.id),
            {name: vector.tobytes() for name, vector in store.vectors_of(info.id).items()},
        )
        for info in store.documents()
    }
