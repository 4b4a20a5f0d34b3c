-- The measured plain plays of one cycle: what they returned, and how many tokens the agent said in each turn. One cycle
-- at a time, by equality: that is what the segments' Bloom filters answer.
select cycle_id, env_id, "return" as return_, list_transform(turns, lambda t: len(t.tokens.output_ids)) as said
from episodes where cycle_id = $1 and arm = 'plain' and "return" is not null
