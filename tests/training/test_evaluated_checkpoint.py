"""A checkpoint of the training folder is evaluated as it lies there: the weights that play, named and placed."""

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from data.benchmarks.registry import wanted  # noqa: E402
from data.catalog import Catalog  # noqa: E402
from data.results import stored_results  # noqa: E402
from flows.benching import Asked, open_evaluated, planned  # noqa: E402
from flows.configuring import load_settings  # noqa: E402
from spade.errors import Abort  # noqa: E402
from spade.messages import Message, Request, Role, Sampling  # noqa: E402
from spade.training_settings import LoraSettings, RoleTraining, TrainingSettings  # noqa: E402
from tasks.evaluating import Bench, take_samples  # noqa: E402
from tests.fakes import SumSuite  # noqa: E402
from tests.training.tiny import batch_of, random_samples  # noqa: E402
from training.averaging import served_state  # noqa: E402
from training.checkpoints import Checkpoints, Saved  # noqa: E402
from training.learner import Learner  # noqa: E402
from training.policy import open_policy  # noqa: E402
from training.scratch import scratch_model, scratch_tokenizer  # noqa: E402

TEXTS = ["What is 1 + 2?", "0 + 0 =", "The answer is 3."] * 20
ASK = Request((Message("user", "1 + 2 ="),), Sampling(temperature=0.0, top_k=0, top_p=1.0, max_tokens=8), Role.AGENT)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A transformers folder to train from."""
    folder, tokenizer = tmp_path / "tiny-base", scratch_tokenizer(TEXTS, 400)
    scratch_model(tokenizer, width=32, seed=1).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def trained(home: Path, base: Path, updates: int = 1, **more: Any) -> tuple[Learner, Saved]:
    """A learner after `updates`, with a checkpoint of each."""
    settings = TrainingSettings(agent=RoleTraining(learning_rate=1e-2), **more)
    learner = Learner(open_policy(base, settings), settings)
    store, parent = Checkpoints(home / "checkpoints", base.name), ""
    for number in range(updates):
        batch = batch_of(random_samples(6, seed=number))
        learner.update(batch)
        saved = store.save(learner, batch_id=batch.batch_id, parent=parent)
        parent = saved.record.checkpoint_id
    return learner, saved


def asked_of(home: Path, base: Path, source: str) -> Any:
    flags = {"model": {"source": source}, "training": {"base": f"path:{base}"}, "home": str(home)}
    return load_settings("starter", flags)


@pytest.mark.parametrize(
    "more", [{}, {"average": 0.5}, {"lora": LoraSettings(rank=2)}], ids=["full", "average", "lora"]
)
async def test_the_weights_that_play_are_those_that_are_evaluated(tmp_path: Path, base: Path, more: Any) -> None:
    if "lora" in more:
        pytest.importorskip("peft", reason="needs the extra: spade-factory[train]")
    learner, saved = trained(tmp_path, base, 2, **more)
    expected = served_state(learner, "agent")
    untrained = dict(open_policy(base, TrainingSettings()).parts["agent"].model.state_dict())
    async with open_evaluated(asked_of(tmp_path, base, "checkpoint:latest")) as answering:
        state = answering.model.models["agent"].state_dict()  # type: ignore[attr-defined]
        assert all(torch.allclose(value, expected[name], atol=1e-6) for name, value in state.items())
        assert any(not torch.equal(value, untrained[name]) for name, value in state.items())
        assert (answering.model.name, answering.model.weights) == ("tiny-base", saved.record.weights)
        assert (answering.label, answering.place) == ("tiny-base, update 2", 2)
        assert len((await answering.model.complete(ASK)).tokens.output_ids) > 0  # type: ignore[union-attr]


async def test_results_of_two_checkpoints_stand_at_their_places(tmp_path: Path, base: Path) -> None:
    trained(tmp_path, base, 2)
    catalog, suite = Catalog(tmp_path), SumSuite()
    for source in ("checkpoint:1", "checkpoint:2"):
        async with open_evaluated(asked_of(tmp_path, base, source)) as answering:
            model = answering.model
            asked = answering.asked(Asked(tasks=2))
            evaluation, questions = await planned(suite, wanted("gpqa-diamond"), asked, (model.name, model.weights))
            catalog.append("evaluations", [evaluation])
            await take_samples.fn(Bench(catalog, suite, model), evaluation, questions)
    found = [result.evaluation for result in stored_results(catalog)]
    assert sorted((e.label, e.place) for e in found) == [("tiny-base, update 1", 1), ("tiny-base, update 2", 2)]
    assert len({e.put.weights for e in found}) == 2
    assert all(result.scores[-1].measured == 4 for result in stored_results(catalog))


async def test_what_is_not_there_is_one_sentence(tmp_path: Path, base: Path) -> None:
    _, saved = trained(tmp_path, base)
    by_folder = asked_of(tmp_path / "elsewhere", base, f"checkpoint:{saved.folder}")
    async with open_evaluated(by_folder) as answering:
        assert answering.place == 1
    with pytest.raises(Abort, match=r"no checkpoint '7' in .*There is: 1 \(ckpt-"):
        async with open_evaluated(asked_of(tmp_path, base, "checkpoint:7")):
            pass
    (saved.folder / "trainer.pt").write_bytes(b"")
    with pytest.raises(Abort, match=r"is damaged: trainer\.pt is not as it was written"):
        async with open_evaluated(asked_of(tmp_path, base, "checkpoint:1")):
            pass


async def test_adapters_of_another_base_are_refused(tmp_path: Path, base: Path) -> None:
    pytest.importorskip("peft", reason="needs the extra: spade-factory[train]")
    trained(tmp_path, base, lora=LoraSettings(rank=2))
    other = base.rename(base.with_name("other-base"))
    with pytest.raises(Abort, match=r"holds adapters for tiny-base, and training.base is other-base"):
        async with open_evaluated(asked_of(tmp_path, other, "checkpoint:1")):
            pass
