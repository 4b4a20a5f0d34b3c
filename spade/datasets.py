"""A dataset and its rows as records: what left the factory, and what each row is made of."""

from dataclasses import dataclass

from spade.identity import content_id


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """One exported row. `index` counts from 0 over the whole dataset; ids that do not apply are empty.

    `paired_episode_id` is the second episode of a preference pair. `attempt_id` is the accepted attempt that brought
    the environment about.
    """

    dataset_id: str
    index: int
    episode_id: str
    env_id: str
    paired_episode_id: str = ""
    hint_id: str = ""
    attempt_id: str = ""
    slot_id: str = ""
    prompt_id: str = ""
    document_id: str = ""
    split: str = "train"

    @property
    def row_id(self) -> str:
        return content_id("row", self.dataset_id, self.index)


@dataclass(frozen=True, slots=True)
class Dataset:
    """One named export. Equal selections under equal settings are the same dataset, whenever they were made.

    `kind` is the exporter (`sft`, ...), `selection` the digest of the ids of all rows in order, `settings_hash` names
    the settings of the run and `versions` the code that wrote it.
    """

    name: str
    kind: str
    selection: str
    rows: int
    settings_hash: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def dataset_id(self) -> str:
        return content_id("dataset", self.name, self.kind, self.selection, self.settings_hash)
