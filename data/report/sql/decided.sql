-- What was decided about each episode of a cycle.
select e.env_id, d.episode_id, d.decision_id, d.pool, d.kept, d.reason
from decisions d join episodes e using (episode_id) where e.cycle_id = $1
order by d.pool, e.round, e.play, e.arm
