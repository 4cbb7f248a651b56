/** The last steps of sessions, one row an instance. */
import type { StepStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';

export const stepStatements = {
  /** $1 instances, $2 steps as text, $3 how many are kept. A path that begins before the first element begins with it. */
  append: {
    name: 'steps-append',
    text: `insert into step_log (instance_id, steps)
      select given.id, given.steps::jsonb from unnest($1::text[], $2::text[]) as given (id, steps)
      join instance on instance.id = given.id and not instance.removed
      on conflict (instance_id) do update set steps = jsonb_path_query_array(
        step_log.steps || excluded.steps, '$[last - $most to last]', jsonb_build_object('most', $3::int - 1))`,
  },
  read: { name: 'steps-read', text: 'select steps from step_log where instance_id = $1' },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeStepStore = (database: Database): StepStore => ({
  async append(batch, most) {
    const steps = batch.map((one) => JSON.stringify(one.steps.slice(-most)));
    await database.rows(stepStatements.append, [batch.map(({ instanceId }) => instanceId), steps, most]);
  },
  async read(instance) {
    const [row] = await database.rows<{ steps: readonly unknown[] }>(stepStatements.read, [instance]);
    return row?.steps ?? [];
  },
});
