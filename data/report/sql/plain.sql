-- The measured plain plays of one cycle: what they returned, and how many tokens the agent said in each turn. One
-- cycle, by equality: a list of them would have every stored play's turns read.
select cycle_id, env_id, "return" as return_, list_transform(turns, lambda t: len(t.tokens.output_ids)) as said
from episodes where cycle_id = $1 and arm = 'plain' and "return" is not null
