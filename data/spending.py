"""What everything that is stored has cost so far."""

from data.catalog import Catalog
from spade.budgets import Spent

_USAGE = "sum(prompt_tokens + completion_tokens) as tokens, sum(cost) as cost"


def stored_spending(catalog: Catalog) -> Spent:
    """Episodes, tokens and money of all that is stored; seconds of all stretches up to their last slot border."""
    used = catalog.query(
        f"""select sum(tokens) as tokens, sum(cost) as cost from (
            select {_USAGE} from attempts union all select {_USAGE} from hints union all select {_USAGE} from episodes
        )"""
    )[0]
    episodes = catalog.query("select count(*) as n from episodes")[0]["n"]
    seconds = catalog.query("select sum(seconds) as s from spendings")[0]["s"]
    return Spent(int(episodes), int(used["tokens"] or 0), float(used["cost"] or 0.0), float(seconds or 0.0))
