/**
 * The work on sealed values as a whole, in the background: first a change of the encryption key, then the move to keys of instances.
 *
 * The value by which a start checks its key is a door. In a change of the key it is sealed last, so that both keys are needed until everything is done.
 * In the move to keys of instances it is sealed first: releases that cannot read those keys start no more. Nodes that had passed the door before are
 * waited for, and only then the new form is written.
 */
import { StorageFailure, type Log, type SettingStore } from '#actors/ports.ts';
import { Pause, untilStored } from '#actors/waiting.ts';
import { systemTime } from '#src/base/system-time.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { resealAll } from './resealing.ts';
import { isDerived, makeSealer, placeOf, type Sealer, type WrittenForm } from './sealing.ts';

const checkName = 'encryption.check';
const checkPlace = placeOf('setting', '', 'check', checkName);

const isShut = (check: string): boolean => isDerived(Buffer.from(check, 'base64'));

/** Absent: the door is open to releases that know one key alone. A number: since when it is shut, by the database's clock. */
const formName = 'encryption.form';
const everywhere = 'derived';

/** Milliseconds for which a node that fell silent may come back without a start. */
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
  /** Unix milliseconds. */
  readonly now: number;
  /** A node that lives, or may come back, is of a release that reads no derived keys. */
  readonly anyOlder: boolean;
}

export interface FormChoice {
  readonly derived: boolean;
  readonly onDuty: boolean;
  /** True while values under a former key are left. */
  readonly changesKey: boolean;
  /** Milliseconds in which a node that passed the door has joined the cluster. */
  readonly graceMs: number;
}

export type FormStep = 'done' | 'shut' | 'write' | 'reseal' | 'wait';

/** Returns the next step of the move. Pure. */
export const stepOf = ({ form, now, anyOlder }: FormState, { derived, onDuty, changesKey, graceMs }: FormChoice): FormStep => {
  if (form === everywhere) return 'done';
  if (form === null) return anyOlder || changesKey ? 'wait' : 'shut';
  const age = now - Number(form);
  if (!derived) return anyOlder || age < graceMs ? 'wait' : 'write';
  // After a second time of grace all other nodes write the new form too.
  return onDuty && age >= 2 * graceMs ? 'reseal' : 'wait';
};

/** In milliseconds, for nodes. */
export interface UpkeepPace {
  /** In this time a node that passed the door has joined the cluster. */
  readonly graceMs: number;
  /** Between two looks. */
  readonly lookMs: number;
}

const usualPace: UpkeepPace = { graceMs: 60_000, lookMs: 5_000 };

interface UpkeepInput {
  readonly database: Database;
  readonly settings: SettingStore;
  readonly key: Uint8Array;
  readonly former: Uint8Array | null;
  readonly log: Log;
  /** The process is one node of several. */
  readonly shared: boolean;
  /** True on the node that does the work which one does for all. */
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
    this.sealer = makeSealer(input.key, input.former, this.#written);
  }

  /** Checks the key and begins. Rejects with a sentence for the operator when the data was sealed with another key. */
  async begin(): Promise<void> {
    const { settings, log } = this.#input;
    // An empty database has no values of an older release.
    if (await settings.swap(checkName, null, this.#check({ derived: true }))) await settings.set(formName, everywhere);
    try {
      this.sealer.open(checkPlace, Buffer.from(await this.#storedCheck(), 'base64'));
    } catch (cause) {
      if (cause instanceof StorageFailure) throw cause;
      throw new Error(wrongKey, { cause });
    }
    // A database that is for this process alone gets no value in the former form any more.
    while (['shut', 'write'].includes(await this.#step()));
    this.#ended = this.#run().catch((error: unknown) => {
      if (!this.#pause.ended) log.error({ error }, 'storage.notResealed');
    });
  }

  /** Resolves when everything is sealed anew, or when it was stopped; never rejects. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Stops the work. The next start continues it. */
  stop(): Promise<void> {
    this.#pause.end();
    return this.#ended;
  }

  /** A fresh value, under the key of now. */
  #check(form: WrittenForm): string {
    return makeSealer(this.#input.key, null, form).seal(checkPlace, 'dormouse').toString('base64');
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
    // A door that is shut stays shut.
    await untilStored(this.#pause, async () => settings.set(checkName, this.#check({ derived: isShut(await this.#storedCheck()) })));
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
    // If the database belongs to this process alone, the nodes of a former cluster no longer write.
    const step = stepOf({ ...state, anyOlder: shared && state.anyOlder }, choice);
    if (step === 'shut') await this.#shut(state.now);
    if (step === 'write' || step === 'done') this.#written.derived = true;
    return step;
  }

  async #shut(now: number): Promise<void> {
    const { settings } = this.#input;
    const stored = await this.#storedCheck();
    // Another node may be quicker.
    if (!isShut(stored)) await settings.swap(checkName, stored, this.#check({ derived: true }));
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
