-- The measured plain plays of some cycles: what they returned, and how many tokens the agent said in each turn.
select cycle_id, env_id, "return" as return_, list_transform(turns, lambda t: len(t.tokens.output_ids)) as said
from episodes where cycle_id in (select unnest($1)) and arm = 'plain' and "return" is not null
