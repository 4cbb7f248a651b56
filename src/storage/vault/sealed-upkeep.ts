/**
 * Reseals all values in the background: first for a change of the encryption key, then for the move to derived keys, one for each instance.
 *
 * Each start unseals a check value to verify its key. In a change of the encryption key, the check value is resealed last, so a start needs both keys until all
 * values are resealed. In the move to derived keys, the check value is resealed first. Releases that cannot derive keys then cannot start any more. Nodes of
 * such releases may still be running. Values are sealed in the new form only after these nodes have ended.
 */
import { StorageFailure, type Log, type SettingStore } from '#actors/ports.ts';
import { Pause, untilStored } from '#actors/waiting.ts';
import { systemTime } from '#src/base/system-time.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { resealAll } from './resealing.ts';
import { isDerived, createSealer, sealedIdOf, type Sealer, type WrittenForm } from './sealing.ts';

const checkName = 'encryption.check';
const checkSealedId = sealedIdOf('setting', '', 'check', checkName);

/** Returns true if the check value is sealed under a derived key. Releases without derived keys then cannot start. */
const excludesOldReleases = (check: string): boolean => isDerived(Buffer.from(check, 'base64'));

/**
 * The setting with the progress of the move to derived keys. Absent: releases without derived keys can start. A number: the time since which such releases
 * cannot start, by the database's clock in Unix milliseconds. `derived`: the move is finished.
 */
const formName = 'encryption.form';
const everywhere = 'derived';

/** The time for which a node may still be running after its lease has expired. In milliseconds. */
const silenceMs = 3_600_000;

const clock = '(extract(epoch from statement_timestamp()) * 1000)';

const upkeepStatements = {
  look: {
    name: 'sealed-upkeep-look',
    text: `select (select value from setting where name = '${formName}') as form, ${clock}::float8 as now,
      exists (select from node where until > ${clock} - ${silenceMs} and derives is distinct from incarnation) as "anyOlder"`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export interface FormState {
  readonly form: string | null;
  /** The database's clock, in Unix milliseconds. */
  readonly now: number;
  /** True if a running node, or one that may still be running, belongs to a release without derived keys. */
  readonly anyOlder: boolean;
}

export interface FormChoice {
  readonly derived: boolean;
  readonly onDuty: boolean;
  /** True while a change of the encryption key is not finished, so that values under the former key are left. */
  readonly changesKey: boolean;
  /** The longest time from the check of the key until a starting node has joined the cluster. In milliseconds. */
  readonly graceMs: number;
}

/** A step of the move to derived keys. `shut`: exclude releases without derived keys. `write`: seal new values in the new form. `reseal`: reseal all old values. */
export type FormStep = 'done' | 'shut' | 'write' | 'reseal' | 'wait';

/** Returns the next step of the move to derived keys. The function is pure. */
export const stepOf = ({ form, now, anyOlder }: FormState, { derived, onDuty, changesKey, graceMs }: FormChoice): FormStep => {
  if (form === everywhere) return 'done';
  if (form === null) return anyOlder || changesKey ? 'wait' : 'shut';
  const age = now - Number(form);
  if (!derived) return anyOlder || age < graceMs ? 'wait' : 'write';
  // After twice the grace period, all other nodes write the new form too.
  return onDuty && age >= 2 * graceMs ? 'reseal' : 'wait';
};

/** The pace on the nodes of a cluster, in milliseconds. */
export interface UpkeepPace {
  /** The longest time from the check of the key until a starting node has joined the cluster. */
  readonly graceMs: number;
  /** The time between two checks. */
  readonly lookMs: number;
}

const usualPace: UpkeepPace = { graceMs: 60_000, lookMs: 5_000 };

interface UpkeepInput {
  readonly database: Database;
  readonly settings: SettingStore;
  readonly key: Uint8Array;
  readonly former: Uint8Array | null;
  readonly log: Log;
  /** True if the process is a node of a cluster. */
  readonly shared: boolean;
  /** Returns true on the duty node, which does the common work of the cluster. */
  readonly onDuty: () => boolean;
  readonly pace?: UpkeepPace | undefined;
}

const wrongKey =
  'The encryption key is not the one that this database was written with: restore ENCRYPTION_KEY, or the key file of the data folder.';

export class SealedUpkeep {
  readonly #input: UpkeepInput;
  readonly #pace: UpkeepPace;
  readonly #written: WrittenForm = { derived: false };
  readonly #pause = new Pause(systemTime);
  readonly sealer: Sealer;
  #changesKey: boolean;
  #ended = Promise.resolve();

  constructor(input: UpkeepInput) {
    this.#input = input;
    this.#pace = input.pace ?? usualPace;
    this.#changesKey = input.former !== null;
    this.sealer = createSealer(input.key, input.former, this.#written);
  }

  /** Checks the key and starts the work. Rejects with a text for the operator if the data was sealed under another key. */
  async begin(): Promise<void> {
    const { settings, log } = this.#input;
    // A new database has no values of an older release, so the move is already finished.
    if (await settings.swap(checkName, null, this.#check({ derived: true }))) await settings.set(formName, everywhere);
    try {
      this.sealer.open(checkSealedId, Buffer.from(await this.#storedCheck(), 'base64'));
    } catch (cause) {
      if (cause instanceof StorageFailure) throw cause;
      throw new Error(wrongKey, { cause });
    }
    // A single gateway takes these steps at once, so it writes only the new form.
    while (['shut', 'write'].includes(await this.#step()));
    this.#ended = this.#run().catch((error: unknown) => {
      if (!this.#pause.ended) log.error({ error }, 'storage.notResealed');
    });
  }

  /** Resolves when all values are resealed, or when the work fails or is stopped. Never rejects. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Stops the work. The next start continues it. */
  stop(): Promise<void> {
    this.#pause.end();
    return this.#ended;
  }

  /** Returns a new check value under the current key. */
  #check(form: WrittenForm): string {
    return createSealer(this.#input.key, null, form).seal(checkSealedId, 'dormouse').toString('base64');
  }

  async #storedCheck(): Promise<string> {
    return (await this.#input.settings.get(checkName)) ?? '';
  }

  async #run(): Promise<void> {
    if (this.#changesKey) await this.#changeKey();
    while (!this.#pause.ended) {
      const step = await untilStored(this.#pause, () => this.#step());
      if (step === 'done') return;
      if (step === 'reseal') await untilStored(this.#pause, () => this.#reseal());
      if (step === 'wait') await this.#pause.wait(this.#pace.lookMs);
    }
  }

  async #changeKey(): Promise<void> {
    const { database, settings, log } = this.#input;
    log.info({}, 'storage.resealing');
    const rows = await resealAll({ database, sealer: this.sealer }, this.#pause);
    if (this.#pause.ended) return;
    // The check value keeps its form, so that releases without derived keys stay excluded.
    await untilStored(this.#pause, async () =>
      settings.set(checkName, this.#check({ derived: excludesOldReleases(await this.#storedCheck()) })),
    );
    this.#changesKey = false;
    log.info({ rows }, 'storage.resealed');
  }

  async #step(): Promise<FormStep> {
    const { database, shared, onDuty } = this.#input;
    const [state] = await database.rows<FormState>(upkeepStatements.look, []);
    if (state === undefined) return 'wait';
    const choice = {
      derived: this.#written.derived,
      onDuty: onDuty(),
      changesKey: this.#changesKey,
      graceMs: shared ? this.#pace.graceMs : 0,
    };
    // If a single gateway uses the database, the nodes of a former cluster no longer write.
    const step = stepOf({ ...state, anyOlder: shared && state.anyOlder }, choice);
    if (step === 'shut') await this.#excludeOldReleases(state.now);
    if (step === 'write' || step === 'done') this.#written.derived = true;
    return step;
  }

  async #excludeOldReleases(now: number): Promise<void> {
    const { settings } = this.#input;
    const stored = await this.#storedCheck();
    // Another node may do the same at this moment, so both writes are compare-and-swap.
    if (!excludesOldReleases(stored)) await settings.swap(checkName, stored, this.#check({ derived: true }));
    await settings.swap(formName, null, String(now));
  }

  async #reseal(): Promise<void> {
    const { database, settings, log } = this.#input;
    const rows = await resealAll({ database, sealer: this.sealer }, this.#pause);
    if (this.#pause.ended) return;
    await settings.set(formName, everywhere);
    log.info({ rows }, 'storage.keysDerived');
  }
}
