-- The dataset rows that episodes of a cycle went into.
select r.env_id, r.episode_id, r.row_id, r.split, d.dataset_id, d.name, d.kind
from dataset_rows r join datasets d using (dataset_id) join episodes e using (episode_id)
where e.cycle_id = $1 order by d.name, d.dataset_id, r."index"
