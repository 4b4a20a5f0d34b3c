"""The curriculum over the cycles of one run, as charts: what people look at when a loop stops teaching."""

from collections.abc import Iterator, Mapping, Sequence

from data.report.cycles import CycleLine
from data.report.plots import Axis, Chart, Series, chart
from spade.curriculum import Curriculum, Tier
from spade.ratings import ZONE

NOT_CLOSED = Curriculum()


def trends(lines: Sequence[CycleLine], stood: Mapping[str, Curriculum]) -> Iterator[Chart]:
    """Charts over cycles in order. `stood`: where the curriculum stood after each finished cycle, by cycle id."""
    numbers = [x.number for x in lines]
    found = [stood.get(x.cycle_id, NOT_CLOSED) for x in lines]
    rates = [Series("plain", [x.plain_rate for x in lines]), Series("hinted", [x.hinted_rate for x in lines])]
    yield chart("Win rate", numbers, rates)
    tiers = [Series(tier.value, [_tier(c, tier) for c in found]) for tier in Tier]
    yield chart("Win rate by tier of difficulty", numbers, tiers, note=_TIERS)
    regret = Series("hinted less plain return", [x.regret for x in lines])
    yield chart("Mean regret", numbers, [regret], Axis.SIGNED)
    band = Series("share of scored environments", [x.band_share for x in lines])
    yield chart("In the learnable band", numbers, [band])
    yield chart("Ratings", numbers, _ratings(found), Axis.SCALE, note=_RATINGS)
    variety = [
        Series("Vendi score per environment", [c.vendi_share for c in found]),
        Series("share of the commonest mechanic", [c.mode_share for c in found]),
    ]
    yield chart("Variety", numbers, variety, note=_VARIETY)
    made = [
        Series("share of slots", [x.accepted_share for x in lines]),
        Series("share of attempts", [x.attempts_accepted for x in lines]),
    ]
    yield chart("Accepted", numbers, made)
    if any(x.cost is not None for x in lines):
        yield chart("Cost of a cycle", numbers, [Series("all roles", [x.cost for x in lines])], Axis.AMOUNT)
    tokens = [Series("prompt", [x.prompt_tokens / 1000 for x in lines])]
    tokens.append(Series("completion", [x.completion_tokens / 1000 for x in lines]))
    yield chart("Thousands of tokens in a cycle", numbers, tokens, Axis.AMOUNT)


_TIERS = (
    f"Plain plays on environments that an agent of rating 25 would win in over {ZONE[1]:.0%} (easy), {ZONE[0]:.0%} to "
    f"{ZONE[1]:.0%} (middle) or under {ZONE[0]:.0%} (hard) of plays."
)
_RATINGS = "Bars: the agent's uncertainty, and how far the cycle's environments lie apart (standard deviations)."
_VARIETY = "Vendi over the latest 200 accepted environments: 1 when all differ, near 0 when all are alike."


def _tier(found: Curriculum, tier: Tier) -> float | None:
    return next((rate.win_rate for rate in found.tiers if rate.tier is tier), None)


def _ratings(found: Sequence[Curriculum]) -> list[Series]:
    return [
        Series("agent", [c.agent_rating for c in found], [c.agent_spread for c in found]),
        Series("environments", [c.difficulty for c in found], [c.difficulty_spread for c in found]),
    ]
