"""A pair model by its hub name: the files that are needed are downloaded once and then used from the cache.

Which hub, where the cache is and who asks are the settings of huggingface_hub itself (``HF_ENDPOINT``, ``HF_HOME``,
``HF_TOKEN``, ``HF_HUB_OFFLINE``).
"""

import re
from importlib.util import find_spec
from pathlib import Path

from selfright.domain.errors import MissingExtra, ModelRejected, ModelUnavailable
from selfright.llm.pair_files import choose

INSTALL = 'pip install "selfright[judges]"'
_SECONDS = 10.0
_COMMIT = re.compile(r"[0-9a-f]{40}")


def check_installed() -> None:
    """Raises ``MissingExtra`` where the library that downloads is not installed."""
    if find_spec("huggingface_hub") is None:
        raise MissingExtra("huggingface_hub, which downloads a pair model by its name,", INSTALL)


def hub_folder(repo: str, revision: str) -> Path:
    """The folder in the cache with the model's files, as the hub has them now or as they came the last time.

    A commit that was downloaded before is used without asking. Raises ``ModelRejected`` for a name that the hub does
    not know, ``ModelUnavailable`` when it cannot be reached and nothing is there yet, ``SettingsError`` for a model
    that cannot be used, and ``MissingExtra``.
    """
    check_installed()
    before = _cached(repo, revision)
    if before is not None and _COMMIT.fullmatch(revision):
        return before
    try:
        return _downloaded(repo, revision)
    except ModelUnavailable:
        if before is None:
            raise
        return before


def _cached(repo: str, revision: str) -> Path | None:
    """The folder of what was downloaded before. The config is the last to come: where it is, all is."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(repo, "config.json", revision=revision)
    return Path(found).parent if isinstance(found, str) else None


def _downloaded(repo: str, revision: str) -> Path:
    from huggingface_hub import hf_hub_download

    commit, files = _listed(repo, revision)
    layout = choose(files, repo)
    try:
        for name in (*layout.weights, *layout.others):
            hf_hub_download(repo, name, revision=commit)
        found = hf_hub_download(repo, "config.json", revision=commit)
        hf_hub_download(repo, "config.json", revision=revision)  # notes which commit the revision was, for next time
    except Exception as error:  # of the libraries below it, which are others in each of its versions
        raise _unavailable(repo, "downloaded", error) from error
    return Path(found).parent


def _listed(repo: str, revision: str) -> tuple[str, list[str]]:
    """The commit that a revision is now, and its files."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    try:
        info = HfApi().model_info(repo, revision=revision, timeout=_SECONDS)
    except (RepositoryNotFoundError, RevisionNotFoundError) as error:
        raise ModelRejected(
            f"'{repo}' (revision {revision}) should be a model on the hub that you may read, but the hub has none by "
            "that name for you; check the name, or accept its conditions and set HF_TOKEN, or give a local folder"
        ) from error
    except Exception as error:
        raise _unavailable(repo, "found", error) from error
    return str(info.sha), [file.rfilename for file in info.siblings or ()]


def _unavailable(repo: str, what: str, error: Exception) -> ModelUnavailable:
    # The error's own words can hold an address with a token in it.
    return ModelUnavailable(
        f"'{repo}' should be {what} on the hub, but that failed ({type(error).__name__}) and it was not downloaded "
        "before; check the network and the free space, or download the model elsewhere and give its folder"
    )
