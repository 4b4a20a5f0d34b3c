-- How the attempts of a cycle that were not accepted ended: by gate, with one message of it as an example.
with refused as (
    select a.rejected_by as gate, list_filter(a.verdicts, lambda v: v.gate = a.rejected_by)[1].message as message,
        s."index" as place, a.number
    from slots s join attempts a using (slot_id) where s.cycle_id = $1 and not a.accepted
)
select gate as name, count(*) as n, coalesce(arg_min(message, place * 100 + number), '') as note
from refused group by gate order by n desc, name
