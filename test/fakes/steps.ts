/** Stored steps of sessions in memory. */
import type { StepStore } from '#actors/ports.ts';
import type { FakeDatabase } from './storage.ts';

export class FakeSteps implements StepStore {
  readonly #db: FakeDatabase;
  readonly #rows = new Map<string, readonly object[]>();

  constructor(db: FakeDatabase) {
    this.#db = db;
  }

  append: StepStore['append'] = (batch, most) =>
    this.#db.run('steps.append', () => {
      for (const { instanceId, steps } of batch) this.#rows.set(instanceId, [...(this.#rows.get(instanceId) ?? []), ...steps].slice(-most));
    });

  last = (instances: readonly string[]) =>
    this.#db.run(
      'steps.last',
      () => new Map([...this.#rows].filter(([id]) => instances.includes(id)).map(([id, steps]) => [id, steps.slice(-8)])),
    );

  read = (instance: string) => this.#db.run('steps.read', () => this.#rows.get(instance) ?? []);
}
