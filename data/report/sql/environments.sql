-- One row an environment accepted in a cycle, with both arms counted over its plays.
with made as (
    select a.env_id, min_by(s.slot_id, s."index") as slot_id, min(s."index") as place
    from slots s join attempts a using (slot_id) where s.cycle_id = $1 and a.accepted group by a.env_id
),
played as (
    select env_id, count_if(arm = 'plain') as plain_asked, count(won) filter (arm = 'plain') as plain_measured,
        count_if(won and arm = 'plain') as plain_wins, avg("return") filter (arm = 'plain') as plain_return,
        count_if(arm = 'hinted') as hinted_asked, count(won) filter (arm = 'hinted') as hinted_measured,
        count_if(won and arm = 'hinted') as hinted_wins, avg("return") filter (arm = 'hinted') as hinted_return
    from episodes where cycle_id = $1 group by env_id
),
hinted as (
    select env_id, count(*) as hints, count_if(accepted) as hints_accepted, max_by(rejected_by, number) as hint_gate
    from hints group by env_id
),
kept as (
    select e.env_id, count(distinct e.episode_id) as kept
    from decisions d join episodes e using (episode_id) where e.cycle_id = $1 and d.kept group by e.env_id
),
exported as (
    select e.env_id, count(distinct e.episode_id) as exported
    from dataset_rows r join episodes e using (episode_id) where e.cycle_id = $1 group by e.env_id
)
select m.env_id, m.slot_id, e.title, e.skill, e.mechanic,
    coalesce(plain_asked, 0) as plain_asked, coalesce(plain_measured, 0) as plain_measured,
    coalesce(plain_wins, 0) as plain_wins, plain_return,
    coalesce(hinted_asked, 0) as hinted_asked, coalesce(hinted_measured, 0) as hinted_measured,
    coalesce(hinted_wins, 0) as hinted_wins, hinted_return,
    coalesce(hints, 0) as hints, coalesce(hints_accepted, 0) as hints_accepted, coalesce(hint_gate, '') as hint_gate,
    coalesce(kept, 0) as kept, coalesce(exported, 0) as exported
from made m join environments e using (env_id)
left join played using (env_id) left join hinted using (env_id)
left join kept using (env_id) left join exported using (env_id)
order by m.place
