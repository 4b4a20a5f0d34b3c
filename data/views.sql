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

-- One row an environment and cycle, flat: what people sort and filter by.
create or replace view scoreboard as
select
    s.cycle_id, s.env_id, e.title, e.skill, e.setting,
    s.plain.win_rate as win_rate, s.hinted.win_rate as hinted_win_rate,
    s.plain.mean_return as mean_return, s.hinted.mean_return as hinted_mean_return,
    s.regret, s.regret_interval.low as regret_low, s.regret_interval.high as regret_high, s.regret_pairs,
    s.plateau, s.designer_reward, s.variant,
    s.plain.measured as measured, s.plain.asked as asked, s.reason
from scores as s left join environments as e using (env_id);

-- What became of a cycle's attempts: accepted ones have the gate '' and refused ones that of the gate that stopped them.
create or replace view funnel as
select s.cycle_id, s.skill, a.rejected_by as gate, count(*) as attempts, count(distinct a.slot_id) as slots
from attempts as a join slots as s using (slot_id)
group by all;

-- Tokens and cost by cycle and role; cost is null where no price was known.
create or replace view costs as
select cycle_id, role, count(*) as calls, sum(prompt_tokens) as prompt_tokens,
    sum(completion_tokens) as completion_tokens, sum(cost) as cost, sum(seconds) as seconds
from (
    select s.cycle_id, 'designer' as role, a.prompt_tokens, a.completion_tokens, a.cost, a.seconds
    from attempts as a join slots as s using (slot_id)
    union all
    select c.cycle_id, 'hint', h.prompt_tokens, h.completion_tokens, h.cost, h.seconds
    from hints as h join chains as c using (env_id)
    union all
    select cycle_id, 'agent ' || arm, prompt_tokens, completion_tokens, cost, seconds from episodes
)
group by all;

-- One row a turn: what the agent saw, said and was paid.
create or replace view turns as
select episode_id, cycle_id, env_id, arm, round, play, outcome, won, place as turn,
    t.observation, t.reply, t.action, t.reward, t.terminated, t.truncated, t.reasoning, t.finish_reason, t.guided,
    len(t.tokens.prompt_ids) as prompt_tokens, len(t.tokens.output_ids) as output_tokens
from (select *, unnest(turns) as t, generate_subscripts(turns, 1) as place from episodes);

-- Episodes that people refused: half of their reviews, or more, say that a row of it is not correct.
create or replace view refused as
select episode_id, count(*) as verdicts_given, count(*) filter (not correct) as against,
    'refused in review by ' || against || ' of ' || verdicts_given as reason
from reviews
group by episode_id
having 2 * against >= count(*);
