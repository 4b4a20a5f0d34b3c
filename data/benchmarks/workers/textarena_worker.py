"""TextArena's games for one player: the package's environments and rewards, unmodified; our side says the moves."""

import os
from typing import Any

import textarena
from serving import ask, serve, version_of

GAMES = (
    *("2048-v0", "Bandit-v0", "Blackjack-v0", "Countdown-v0", "Crosswords-v0", "Cryptarithm-v0", "FifteenPuzzle-v0"),
    *("FrozenLake-v0", "GuessTheNumber-v0", "LightsOut-v0", "LogicPuzzle-v0", "Mastermind-v0", "Minesweeper-v0"),
    *("PegJump-v0", "RushHour-v0", "Secretary-v0", "Set-v0", "Slitherlink-v0", "Sudoku-v0", "ThreeCardMonte-v0"),
    "TowerOfHanoi-v0",
)
"""Left out: GuessWho and TwentyQuestions (another model is their referee), Hangman, Wordle, WordLadder and WordSearch
(word lists to be downloaded), Sokoban (numpy), Klondike and UltimateTexasHoldem (syntax of a later Python)."""


def hello() -> dict[str, Any]:
    return {"version": version_of("textarena"), "games": GAMES}


def first(game: str, seed: int) -> str:
    """What the player sees first."""
    made = textarena.make(game)
    made.reset(num_players=1, seed=seed)
    return str(made.get_observation()[1])


def attempt(game: str, seed: int, turns: int) -> dict[str, Any]:
    """Play to the end, or for so many turns; the reward as the package gives it."""
    made = textarena.make(game)
    made.reset(num_players=1, seed=seed)
    moves, done = 0, False
    while not done and moves < turns:
        said = ask({"observation": str(made.get_observation()[1])})
        done, _ = made.step(said["text"])
        moves += 1
    rewards, info = made.close()
    reward = (rewards or {}).get(0, 0)
    return {"done": done, "reward": reward if isinstance(reward, int | float) else 0, "info": info[0], "moves": moves}


if __name__ == "__main__":
    os.environ.pop("OPENROUTER_API_KEY", None)
    serve({"hello": hello, "first": first, "attempt": attempt})
