"""What one update does, rule by rule, with worked numbers (docs/method.md, "Learning").

Each number is a decision. When one of these fails, the method changed: change the document first, then the test.

 1 agent advantage: z-score within a group      -> test_batches.py
 2 designer advantage: centred and scaled       -> test_batches.py
 3 asymmetric clip at 0.8 and 1.28              4 truncated importance weights, cap 2
 5 late samples are compared with the policy at the start of the update
 6 low-variance KL                              7 entropy bonus and its target
 8 a step's loss is a mean over all its tokens, however it is cut into micro-batches
 9 packed samples do not see each other         10 guides and temperature shape the trained distribution
11 equal inputs give equal weights              12 a loss that is not a number stops before the step
13 exploding ratios are left out and counted    14 a designer of its own has its own weights and steps
15 gradients agree with a plain implementation
"""

import math
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from spade.errors import Abort  # noqa: E402
from spade.messages import Role  # noqa: E402
from spade.training_settings import LoraSettings, RoleTraining, TrainingSettings  # noqa: E402
from tests.training.tiny import batch_of, played, random_samples, tiny_model  # noqa: E402
from training.learner import Learner  # noqa: E402
from training.losses import Tokens, low_variance_kl, token_losses  # noqa: E402
from training.policy import policy_of  # noqa: E402
from training.samples import Sample  # noqa: E402

PLAIN = RoleTraining(learning_rate=1e-3)


def learner_with(seed: int = 0, **settings: Any) -> Learner:
    chosen = TrainingSettings(**{"agent": PLAIN, "designer": PLAIN, **settings})
    designer = tiny_model(seed) if chosen.separate_designer and chosen.lora is None else None
    return Learner(policy_of(tiny_model(seed), None, chosen, designer=designer), chosen)


def weights_of(learner: Learner, part: str = "agent") -> dict[str, Any]:
    return {n: p.detach().clone() for n, p in learner.policy.trained(part).items()}


def losses(ratio: float, advantage: float, weight: float = 1.0, **settings: float) -> tuple[float, Any]:
    """The loss of one token with these numbers; pi_near is 1, so the behaviour policy is 1 / weight."""
    behaviour = torch.tensor([-math.log(weight) - 1.0])
    near = torch.tensor([-1.0])
    tokens = Tokens(near + math.log(ratio), behaviour, near, torch.tensor([advantage]), torch.tensor([0.5]))
    loss, facts = token_losses(tokens, RoleTraining(**settings), 2.0, settings.get("entropy", 0.0))
    return float(loss), facts


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "clipped"),
    [(1.0, 2.0, -2.0, 0), (1.5, 2.0, -2.56, 1), (0.5, 2.0, -1.0, 0), (0.5, -2.0, 1.6, 1), (1.5, -2.0, 3.0, 0)],
)
def test_3_the_clip_is_asymmetric(ratio: float, advantage: float, loss: float, clipped: int) -> None:
    """A good token pays up to ratio 1.28, a bad one down to 0.8; beyond that there is no gradient."""
    value, facts = losses(ratio, advantage)
    assert value == pytest.approx(loss, rel=1e-5)
    assert float(facts.clipped) == clipped


@pytest.mark.parametrize(("weight", "used", "truncated"), [(0.5, 0.5, 0), (1.0, 1.0, 0), (1.9, 1.9, 0), (5.0, 2.0, 1)])
def test_4_importance_weights_are_truncated_at_the_cap(weight: float, used: float, truncated: int) -> None:
    value, facts = losses(1.0, 1.0, weight)
    assert value == pytest.approx(-used, rel=1e-5)
    assert float(facts.weight) == pytest.approx(weight, rel=1e-5)
    assert float(facts.truncated) == truncated


def test_5_late_samples_are_compared_with_the_policy_at_the_start_of_the_update() -> None:
    """Their ratio begins at 1 although the behaviour policy was another; the gap goes into the weight."""
    learner = learner_with()
    late = [replace(s, late=True) for s in random_samples(6, role=Role.DESIGNER)]
    figures = learner.update(batch_of(late)).roles["designer"]

    assert figures.ratio == pytest.approx(1.0, abs=1e-5)
    assert figures.ess < 0.999
    on_time = learner_with().update(batch_of(random_samples(6, role=Role.DESIGNER))).roles["designer"]
    assert on_time.ratio != pytest.approx(1.0, abs=1e-2)
    assert on_time.ess == pytest.approx(1.0)


def test_5_played_by_the_present_weights_every_ratio_is_one() -> None:
    learner = learner_with()
    figures = learner.update(batch_of(played(learner, random_samples()))).roles["agent"]
    assert (figures.ratio, figures.ess, figures.clipped) == pytest.approx((1.0, 1.0, 0.0), abs=1e-5)
    assert figures.kl == pytest.approx(0.0, abs=1e-6)


def test_6_the_kl_is_low_variance_and_never_negative() -> None:
    """d = log(first / current) = log 2 gives 2 - log 2 - 1 = 0.3069; equal policies give 0."""
    assert float(low_variance_kl(torch.tensor(-2.0), torch.tensor(-2.0 + math.log(2)))) == pytest.approx(
        0.30685, abs=1e-4
    )
    assert float(low_variance_kl(torch.tensor(-2.0), torch.tensor(-2.0))) == 0.0


def test_6_the_kl_pulls_back_to_the_first_weights() -> None:
    from training.reference import keep_first

    free, held = learner_with(), learner_with(agent=RoleTraining(learning_rate=1e-3, kl=50.0))
    keep_first(held)
    samples = played(free, random_samples())
    for _ in range(8):
        free.update(batch_of(samples))
        held.update(batch_of(samples))
    assert free.update(batch_of(samples)).roles["agent"].kl > 2 * held.update(batch_of(samples)).roles["agent"].kl


def test_7_entropy_is_paid_for_and_its_target_steers_the_price() -> None:
    value, _ = losses(1.0, 2.0, entropy=0.1)
    assert value == pytest.approx(-2.0 - 0.1 * 0.5, rel=1e-5)
    low = learner_with(agent=RoleTraining(learning_rate=1e-4, entropy_target=10.0))
    high = learner_with(agent=RoleTraining(learning_rate=1e-4, entropy_target=0.01))
    for each in (low, high):
        each.update(batch_of(played(each, random_samples())))
    assert low.entropy_weights["agent"] > 0.03 > high.entropy_weights["agent"]


def gradients(learner: Learner, samples: list[Sample]) -> dict[str, Any]:
    """What one update's gradient is, read off by a step of plain descent at rate 1 (`NO_CLIPPING`)."""
    before = weights_of(learner)
    learner.optimisers["agent"] = torch.optim.SGD(learner.policy.trained("agent").values(), lr=1.0)
    learner.update(batch_of(samples))
    return {n: before[n] - p.detach() for n, p in learner.policy.trained("agent").items()}


NO_CLIPPING = RoleTraining(learning_rate=1.0, max_grad_norm=1e9)


def flat(values: dict[str, Any]) -> Any:
    return torch.cat([v.flatten().double() for v in values.values()])


@pytest.mark.parametrize("micro", [1, 40, 10_000])
def test_8_micro_batches_change_nothing_but_memory(micro: int) -> None:
    samples = random_samples(10)
    whole = flat(gradients(learner_with(agent=NO_CLIPPING), samples))
    parts = flat(gradients(learner_with(agent=NO_CLIPPING, micro_tokens=micro), samples))
    assert torch.allclose(whole, parts, atol=2e-3 * whole.abs().max())


def test_8_tokens_weigh_alike_not_samples() -> None:
    """A sample beside a worthless one keeps the share of its tokens, not half."""
    learner = learner_with(agent=NO_CLIPPING)
    one, six = (replace(s, advantage=a) for s, a in zip(random_samples(2, seed=3), (1.0, 0.0), strict=True))
    both = flat(gradients(learner, [one, six]))
    alone = flat(gradients(learner_with(agent=NO_CLIPPING), [one]))
    share = one.tokens / (one.tokens + six.tokens)
    assert torch.allclose(both, alone * share, atol=1e-3 * alone.abs().max())


@pytest.mark.parametrize("family", ["llama", "qwen3"])
def test_9_packed_samples_do_not_see_each_other(family: str) -> None:
    settings = TrainingSettings()
    learner = Learner(policy_of(tiny_model(1, family=family), None, settings), settings)
    samples = random_samples(12, seed=5)
    together = learner.score(samples)
    alone = [learner.score([sample])[0] for sample in samples]
    for packed, single in zip(together, alone, strict=True):
        assert packed == pytest.approx(single, abs=1e-5)


def test_10_guides_and_temperature_shape_the_trained_distribution() -> None:
    """The log-probability is over what was allowed, at the temperature that was drawn with: checked against logits."""
    learner = learner_with()
    for sample in random_samples(6, seed=2, guided=True):
        logits = learner.policy.parts["agent"].model(torch.tensor([sample.ids])).logits[0].double()
        expected = []
        for place, choice in zip(sample.at, sample.allowed, strict=True):
            row = logits[place - 1] / sample.temperature
            among = row[list(choice)] if choice else row
            expected.append(float((row[sample.ids[place]] - among.logsumexp(0)).detach()))
        assert learner.score([sample])[0] == pytest.approx(expected, abs=1e-5)


def test_11_equal_inputs_give_equal_weights_bit_for_bit() -> None:
    settings = {"agent": RoleTraining(learning_rate=1e-3, minibatches=3, epochs=2)}
    one, two = learner_with(**settings), learner_with(**settings)
    reports = [each.update(batch_of(random_samples(9))) for each in (one, two)]
    for name, value in weights_of(one).items():
        assert torch.equal(value, weights_of(two)[name])
    assert reports[0].roles == reports[1].roles
    assert reports[0].roles["agent"].steps == 6


@pytest.mark.parametrize(("samples", "steps"), [(3, 1), (4, 1), (8, 2), (10, 2), (11, 3), (12, 3)])
def test_11_steps_of_equal_size_grow_with_what_there_is_to_learn_from(samples: int, steps: int) -> None:
    """`step_samples` 4: as many steps as fours fit in, rounded, and one at least."""
    learner = learner_with(agent=RoleTraining(learning_rate=1e-3, minibatches=7, step_samples=4))
    assert learner.update(batch_of(random_samples(samples))).roles["agent"].steps == steps


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_12_a_loss_that_is_not_a_number_stops_before_the_step(poison: float) -> None:
    learner = learner_with()
    before = weights_of(learner)
    samples = random_samples(4)
    with pytest.raises(Abort, match=r"loss of update 1 is not a number.*last checkpoint"):
        learner.update(batch_of([replace(samples[0], advantage=poison), *samples[1:]]))
    assert all(torch.equal(value, weights_of(learner)[name]) for name, value in before.items())
    assert learner.updates == 0


def test_13_exploding_ratios_are_left_out_and_counted_and_too_many_refuse_the_update() -> None:
    learner = learner_with()
    samples = played(learner, random_samples(6))
    wild = replace(samples[0], logprobs=tuple(v - 20.0 for v in samples[0].logprobs))
    report = learner.update(batch_of([wild, *samples[1:]]))
    assert report.roles["agent"].exploded == 1
    assert report.roles["agent"].ratio_max < 1.1
    with pytest.raises(Abort, match="exploding ratio"):
        learner_with().update(batch_of([replace(s, logprobs=tuple(-40.0 for _ in s.at)) for s in samples]))


@pytest.mark.parametrize("lora", [None, LoraSettings(rank=2)])
def test_14_a_designer_of_its_own_learns_apart_from_the_agent(lora: LoraSettings | None) -> None:
    """As a copy or as an adapter: its samples leave the agent as it was, and it makes steps of its own."""
    if lora is not None:
        pytest.importorskip("peft", reason="needs the extra: spade-factory[train]")
    fast = RoleTraining(learning_rate=1e-2, epochs=4)
    learner = learner_with(separate_designer=True, designer=fast, lora=lora)
    before = weights_of(learner), weights_of(learner, "designer")
    designs = random_samples(6, role=Role.DESIGNER)
    report = learner.update(batch_of(designs))

    assert report.roles["designer"].steps == 4
    assert all(torch.equal(value, weights_of(learner)[name]) for name, value in before[0].items())
    assert any(not torch.equal(value, weights_of(learner, "designer")[n]) for n, value in before[1].items())
    learner.update(batch_of(random_samples(6)))
    assert any(not torch.equal(value, weights_of(learner)[name]) for name, value in before[0].items())


def test_14_a_frozen_designer_does_not_move_the_weights() -> None:
    learner = learner_with(frozen_designer=True)
    before = weights_of(learner)
    learner.update(batch_of(random_samples(4, role=Role.DESIGNER)))
    assert all(torch.equal(value, weights_of(learner)[name]) for name, value in before.items())


def plain_gradient(samples: list[Sample], settings: RoleTraining, cap: float) -> Any:
    """The definition, read straight off the method: one sample and one token at a time, autograd for the rest."""
    model = tiny_model(0).double()
    total = sum(len(s.at) for s in samples)
    with torch.no_grad():
        near = {s.subject_id: plain_logprobs(model, s).clone() for s in samples}
    loss = torch.zeros((), dtype=torch.float64)
    for sample in samples:
        current = plain_logprobs(model, sample)
        for n, behaviour in enumerate(sample.logprobs):
            against = near[sample.subject_id][n] if sample.late else torch.tensor(behaviour, dtype=torch.float64)
            ratio = torch.exp(current[n] - against)
            weight = min(cap, float(torch.exp(against - behaviour)))
            clipped = torch.clamp(ratio, 1 - settings.clip_low, 1 + settings.clip_high)
            gain = torch.minimum(ratio * sample.advantage, clipped * sample.advantage)
            loss = loss - weight * gain / total
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def plain_logprobs(model: Any, sample: Sample) -> Any:
    logits = model(torch.tensor([sample.ids])).logits[0]
    values = []
    for place, choice in zip(sample.at, sample.allowed, strict=True):
        row = logits[place - 1] / sample.temperature
        among = row[list(choice)] if choice else row
        values.append(row[sample.ids[place]] - among.logsumexp(0))
    return torch.stack(values)


@pytest.mark.parametrize("precision", ["fp32", "checkpointed"])
def test_15_gradients_agree_with_a_plain_implementation(precision: str) -> None:
    """Both roles at once, late and guided samples among them: cosine at least 0.9999 and the same length."""
    agent = random_samples(8, seed=1) + random_samples(6, seed=2, guided=True)
    agent = [replace(s, subject_id=f"a{n}") for n, s in enumerate(agent)]
    designer = [replace(s, late=True, advantage=3 * s.advantage) for s in random_samples(5, seed=3, role=Role.DESIGNER)]
    samples = [*agent, *designer]
    learner = learner_with(
        agent=NO_CLIPPING, micro_tokens=64, ratio_limit=1e6, gradient_checkpointing=precision == "checkpointed"
    )
    ours = flat(gradients(learner, samples))
    theirs = plain_gradient(samples, NO_CLIPPING, 2.0)

    assert float(torch.nn.functional.cosine_similarity(ours, theirs, dim=0)) >= 0.9999
    assert float(ours.norm() / theirs.norm()) == pytest.approx(1.0, abs=1e-3)


def test_15_bf16_points_the_same_way() -> None:
    """Weights stay in fp32 and only the computing is coarser: the gradient's direction is nearly the same."""
    samples = played(learner_with(), random_samples(12, seed=4))
    fine = flat(gradients(learner_with(agent=NO_CLIPPING), samples))
    coarse = flat(gradients(learner_with(agent=NO_CLIPPING, precision="bf16"), samples))
    assert float(torch.nn.functional.cosine_similarity(fine, coarse, dim=0)) > 0.98


def test_running_out_of_memory_names_the_limit_to_change(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = learner_with()

    def refuse(*_: object) -> None:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(learner.optimisers["agent"], "step", refuse)
    with pytest.raises(Abort, match=r"out of memory.*training\.micro_tokens \(now 8192\)"):
        learner.update(batch_of(random_samples(4)))


def test_a_warm_start_makes_positives_likelier() -> None:
    from training.imitation import imitate

    learner = learner_with()
    samples = [replace(s, advantage=1.0) for s in random_samples(6)]
    losses = imitate(learner, "agent", samples, rate=1e-2, size=3, epochs=20)
    assert losses[-1] < 0.7 * losses[0]
