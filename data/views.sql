-- Views over the stored tables for the questions people ask. docs/catalog.md shows them at work.

create or replace view verdicts as
select judged_id, subject_id, gate, status, message, measured, threshold, seconds, blemishes from verdicts_alone
union all by name
select attempt_id as subject_id, unnest(verdicts, max_depth := 2) from attempts
union all by name
select hint_id as subject_id, unnest(verdicts, max_depth := 2) from hints;
