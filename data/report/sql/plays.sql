-- The plays of one cycle without their turns; the seed is the same in both arms.
select env_id, episode_id, round, play, seed, arm, outcome, "return", won, n_turns, detail, prompt_tokens,
    completion_tokens, cost, seconds
from episodes where cycle_id = $1 order by env_id, round, play, seed, arm
