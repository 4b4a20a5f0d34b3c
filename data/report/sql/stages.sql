-- What each stage of a cycle took: calls, seconds, tokens, cost. Seconds of calls that ran side by side add up.
with tried as (
    select a.* from slots s join attempts a using (slot_id) where s.cycle_id = $1
),
made as (
    select distinct env_id from tried where accepted
),
work as (
    select 1 as place, 'design' as stage, seconds, prompt_tokens, completion_tokens, cost, 1 as models from tried
    union all
    select 2, 'gates', list_sum(list_transform(verdicts, lambda v: v.seconds)), 0, 0, null, 0
    from tried where len(verdicts) > 0
    union all
    select 3, 'hint', seconds, prompt_tokens, completion_tokens, cost, 1 from hints semi join made using (env_id)
    union all
    select 4, 'play, plain arm', seconds, prompt_tokens, completion_tokens, cost, 1
    from episodes where cycle_id = $1 and arm = 'plain'
    union all
    select 5, 'play, hinted arm', seconds, prompt_tokens, completion_tokens, cost, 1
    from episodes where cycle_id = $1 and arm = 'hinted'
)
select stage, count(*) as n, sum(seconds) as seconds, median(seconds) as median, max(seconds) as longest,
    sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(cost) as cost,
    sum(models) - count(cost) as unpriced
from work group by place, stage order by place
