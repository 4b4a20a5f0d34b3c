from spade.diversity import Pool, pool_verdicts, structural_hash
from spade.ports import Recalled

GAME = '''
class GuessEnv:
    """Guess."""
    def reset(self, seed=None):
        limit = 9
        return f"Guess up to {limit}", {}
'''


def test_names_texts_and_comments_do_not_make_a_new_environment() -> None:
    renamed = GAME.replace("GuessEnv", "DiveEnv").replace("limit", "depth").replace("Guess up to", "# Dive to")
    assert structural_hash(renamed) == structural_hash(GAME)


def test_another_number_or_another_structure_does() -> None:
    assert structural_hash(GAME.replace("9", "30")) != structural_hash(GAME)
    assert structural_hash(GAME.replace("return", "limit += 1\n        return")) != structural_hash(GAME)


def test_each_rejection_names_its_neighbour() -> None:
    structure = structural_hash(GAME)
    near = [Recalled("env-b", 0.95, {})]

    def failed(pool: Pool) -> dict[str, str]:
        return {v.gate: v.message for v in pool_verdicts("env-a", structure, pool) if not v.passed}

    assert failed(Pool({})) == {}
    assert "env-a" in failed(Pool({structure: "env-a"}))["pool.exact"]
    assert "env-c" in failed(Pool({structure: "env-c"}))["pool.structural"]
    assert "env-b" in failed(Pool({}, near))["pool.meaning"]
    assert failed(Pool({}, near, semantic=False)) == {}
