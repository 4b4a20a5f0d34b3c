-- One row a cycle: what it set out to do and what came of it. Parameters: the ends of the band of win rates.
with tried as (
    select s.cycle_id, a.env_id, a.accepted, a.number, a.prompt_tokens, a.completion_tokens, a.cost
    from slots s join attempts a using (slot_id)
),
made as (
    select distinct cycle_id, env_id from tried where accepted
),
planned as (
    select cycle_id, count(*) as slots from slots group by cycle_id
),
designed as (
    select cycle_id, count(*) as attempts, count(distinct env_id) filter (accepted) as accepted,
        count_if(accepted and number = 0) as first_try
    from tried group by cycle_id
),
played as (
    select cycle_id, count(*) as asked, count(won) as measured,
        count(won) filter (arm = 'plain') as plain_measured, count_if(won and arm = 'plain') as plain_wins,
        count(won) filter (arm = 'hinted') as hinted_measured, count_if(won and arm = 'hinted') as hinted_wins
    from episodes group by cycle_id
),
one_score as (
    select * from scores qualify row_number() over (partition by cycle_id, env_id order by variant) = 1
),
scored as (
    select cycle_id, count(plateau) as scored, count(regret) as regrets, avg(regret) as regret,
        count_if(plateau is not null and plain.win_rate between $1 and $2) as in_band
    from one_score group by cycle_id
),
exported as (
    select e.cycle_id, count(distinct r.episode_id) as exported
    from dataset_rows r join episodes e using (episode_id) group by e.cycle_id
),
used as (
    select cycle_id, sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(cost) as cost
    from (
        select cycle_id, prompt_tokens, completion_tokens, cost from tried
        union all
        select m.cycle_id, h.prompt_tokens, h.completion_tokens, h.cost from made m join hints h using (env_id)
        union all
        select cycle_id, prompt_tokens, completion_tokens, cost from episodes
    ) group by cycle_id
),
summed as (
    select cycle_id, seconds from summaries
)
select c.cycle_id, c.settings_hash, c.seed, c.number,
    coalesce(slots, 0) as slots, coalesce(attempts, 0) as attempts, coalesce(accepted, 0) as accepted,
    coalesce(first_try, 0) as first_try, coalesce(asked, 0) as asked, coalesce(measured, 0) as measured,
    coalesce(plain_measured, 0) as plain_measured, coalesce(plain_wins, 0) as plain_wins,
    coalesce(hinted_measured, 0) as hinted_measured, coalesce(hinted_wins, 0) as hinted_wins,
    coalesce(scored, 0) as scored, coalesce(regrets, 0) as regrets, regret, coalesce(in_band, 0) as in_band,
    coalesce(exported, 0) as exported, coalesce(prompt_tokens, 0) as prompt_tokens,
    coalesce(completion_tokens, 0) as completion_tokens, cost, seconds
from cycles c
left join planned using (cycle_id)
left join designed using (cycle_id)
left join played using (cycle_id)
left join scored using (cycle_id)
left join exported using (cycle_id)
left join used using (cycle_id)
left join summed using (cycle_id)
