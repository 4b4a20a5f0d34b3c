-- How the episodes of a cycle ended, by outcome and arm.
select outcome, count_if(arm = 'plain') as plain, count_if(arm = 'hinted') as hinted,
    coalesce(any_value(detail) filter (detail <> ''), '') as note
from episodes where cycle_id = $1 group by outcome order by plain + hinted desc, outcome
