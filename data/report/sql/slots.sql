-- One row a slot of a cycle: its document, how many attempts it took, and what the last of them came to.
with tried as (
    select s.slot_id, count(a.attempt_id) as attempts, max_by(a.rejected_by, a.number) as gate,
        max_by(a.verdicts, a.number) as verdicts, any_value(a.env_id) filter (a.accepted) as env_id
    from slots s left join attempts a using (slot_id) where s.cycle_id = $1 group by s.slot_id
)
select s.slot_id, s."index", s.skill, s.document_id, coalesce(d.title, '') as document, coalesce(d.subject, '') as subject,
    t.attempts, coalesce(t.env_id, '') as env_id, coalesce(t.gate, '') as gate,
    coalesce(list_filter(t.verdicts, lambda v: v.gate = t.gate)[1].message, '') as message
from slots s join tried t using (slot_id) left join documents d using (document_id)
where s.cycle_id = $1 order by s."index"
