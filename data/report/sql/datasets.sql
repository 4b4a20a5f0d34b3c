-- The datasets that hold rows from a cycle.
select d.dataset_id, d.name, d.kind, d.rows, count(*) as here
from datasets d join dataset_rows r using (dataset_id) join episodes e using (episode_id)
where e.cycle_id = $1 group by all order by d.name, d.dataset_id
