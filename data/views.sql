-- Views over the stored tables for the questions people ask. docs/catalog.md shows them at work.

create or replace view verdicts as
select judged_id, subject_id, gate, status, message, measured, threshold, seconds, blemishes from verdicts_alone
union all by name
select attempt_id as subject_id, unnest(verdicts, max_depth := 2) from attempts
union all by name
select hint_id as subject_id, unnest(verdicts, max_depth := 2) from hints;

-- Where an environment came from: the accepted attempt that brought it about in a cycle.
create or replace view chains as
select
    a.env_id, s.cycle_id, a.attempt_id, a.slot_id, a.prompt_id, s.document_id,
    s.setting, s.skill, s.seed as slot_seed, a.model as designer, a.weights as designer_weights
from attempts as a join slots as s using (slot_id)
where a.accepted
qualify row_number() over (partition by a.env_id, s.cycle_id order by s.index, a.number) = 1;
