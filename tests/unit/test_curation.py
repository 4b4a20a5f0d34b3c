from dataclasses import replace

from spade.curation import decide_positives
from spade.episodes import Arm, Asked, Episode, Turn
from spade.outcomes import EpisodeOutcome

TURN = Turn("Guess.", r"\boxed{5}", "5", 1.0, terminated=True)
WON = Episode(
    Asked("cycle-1", "env-1", 0, Arm.PLAIN, 0, 1), EpisodeOutcome.COMPLETED, (TURN,), "m", "w", return_=1.0, won=True
)


def test_each_rule_names_its_reason() -> None:
    def play(number: int, **changes: object) -> Episode:
        asked = replace(WON.asked, play=number, **{k: changes.pop(k) for k in ("arm",) if k in changes})  # type: ignore[arg-type]
        return replace(WON, asked=asked, **changes)  # type: ignore[arg-type]

    episodes = [
        WON,
        play(1, arm=Arm.HINTED),
        play(2, outcome=EpisodeOutcome.MODEL_ERROR, return_=None, won=None),
        play(3, return_=0.5, won=False),
        play(4, turns=(replace(TURN, reply="5"),)),
        play(5, turns=(replace(TURN, observation="Another."),)),
        play(6),
    ]
    replayed = frozenset(e.episode_id for i, e in enumerate(episodes) if i != 5)

    decisions = list(decide_positives(episodes, replayed))

    assert [d.reason for d in decisions] == [
        "",
        "hinted arm",
        "not measured: model_error",
        "lost",
        "a turn without a boxed action",
        "replay differs",
        "duplicate transcript",
    ]
    assert [d.kept for d in decisions] == [True] + [False] * 6
    assert decisions == list(decide_positives(episodes, replayed))
