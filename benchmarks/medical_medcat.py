"""A MedCAT 2 model pack made of the lexicon's English names, for measuring beside ours."""

import os
from typing import Any

from selfright_medical.lexicon import load_lexicon


def lexicon_pack() -> Any:
    """A ``CAT`` over conditions, symptoms and medicines; MedCAT's own tokenizer, no training."""
    os.environ.setdefault("MEDCAT_DISABLE_VERSION_CHECK", "1")
    import pandas
    from medcat.cat import CAT
    from medcat.config import Config
    from medcat.model_creation.cdb_maker import CDBMaker
    from medcat.vocab import Vocab

    config = Config()
    config.general.nlp.provider = "regex"
    concepts = load_lexicon().of_kind("condition", "symptom", "drug")
    rows = [(one.id, name, "PA"[name != one.name("en")], one.kind) for one in concepts for name in one.forms_en]
    table = pandas.DataFrame(rows, columns=["cui", "name", "name_status", "type_ids"])
    vocabulary = Vocab()
    vocabulary.add_word("patient", cnt=10, vec=[1.0, 0.0])
    return CAT(CDBMaker(config).prepare_csvs([table]), vocabulary, config=config)
