-- What was decided about the episodes of a cycle, by pool and reason.
select d.pool, d.kept, case when d.kept then 'kept' else d.reason end as name, count(*) as n
from decisions d join episodes e using (episode_id) where e.cycle_id = $1
group by all order by d.pool, d.kept desc, n desc, name
