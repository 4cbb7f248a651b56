/** Sends texts in both directions on many instances at once, during faults. Records the answer to each text. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from './account.ts';
import type { PlatformProcess } from './platform-process.ts';
import { shuffled } from './random.ts';
import type { Receiver } from './receivers.ts';
import { until } from './until.ts';

export interface Sent {
  readonly account: Account;
  readonly text: string;
  /** True if the asynchronous queue sends the text. */
  readonly queued: boolean;
  /** The HTTP status of the answer, or 0 if the gateway was killed. */
  readonly status: number;
  /** The error text of a refusal. Empty for an accepted text. */
  readonly error: string;
}

export interface Written {
  readonly account: Account;
  readonly id: string;
}

export interface FlowOptions {
  readonly platform: PlatformProcess;
  readonly accounts: readonly Account[];
  readonly contacts: readonly string[];
  /** Accounts that their phones unlink at some time. Their requests may stay without effect. */
  readonly unlinked: ReadonlySet<Account>;
  readonly random: () => number;
}

/** The number of parallel senders. Each waits for its answers, so a slow machine gets less load. */
const lanes = 10;
/** The longest pause between two texts of a sender. In milliseconds. */
const longestPause = 400;
/** Each n-th text is sent through the queue, where n is this number. */
const queuedEvery = 4;
/** The number of texts in each direction that counts as progress. */
const progress = 10;
/** The time-out of waits. In milliseconds. */
const patience = 120_000;

export class Flow {
  readonly sent: Sent[] = [];
  readonly written: Written[] = [];
  /** Accounts that send nothing, because a text would wake them. */
  readonly spared = new Set<Account>();
  readonly #options: FlowOptions;
  #going = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: FlowOptions) {
    this.#options = options;
  }

  start(): void {
    const { accounts } = this.#options;
    this.#going = true;
    const shares = Array.from({ length: lanes }, (_, lane) => accounts.filter((_, at) => at % lanes === lane));
    this.#work = Promise.all(shares.filter(({ length }) => length > 0).map((share) => this.#goOn(share)));
    // An error of the work is thrown by `stop`.
    this.#work.catch(() => (this.#going = false));
  }

  async stop(): Promise<void> {
    this.#going = false;
    await this.#work;
  }

  /** Sends one text in each direction. Returns the HTTP status of the text of the account. */
  async once(account: Account): Promise<number> {
    const status = await this.#send(account);
    await this.#write(account);
    return status;
  }

  /** Waits until further texts have arrived in both directions. */
  async proceeds(): Promise<void> {
    const through = async () => ({
      out: this.sent.filter(({ status, queued }) => status === 200 && !queued).length,
      in: (await this.#options.platform.stats()).messages.acknowledged,
    });
    const before = await through();
    const enough = async (): Promise<boolean> => {
      const now = await through();
      return now.out >= before.out + progress && now.in >= before.in + progress;
    };
    await until(enough, 'texts get through', patience);
  }

  /** Asserts that every accepted text without the status Failed was read once, and that no text was read twice. */
  async assertRead(): Promise<void> {
    const { platform, accounts, contacts, unlinked } = this.#options;
    const failed = new Set<string>();
    for (const account of accounts) {
      for (const { fromMe, text, status } of await account.found({})) if (fromMe && status === 'Failed') failed.add(text);
    }
    const owed = this.sent.filter(
      ({ account, text, queued, status }) => status === 200 && !(queued && (unlinked.has(account) || failed.has(text))),
    );
    let missing = owed;
    const reads = await until(
      async () => {
        const all = (await Promise.all(contacts.map((contact) => platform.received(contact)))).flat();
        const texts = new Set(all.map(({ text }) => text));
        missing = owed.filter(({ text }) => !texts.has(text));
        return missing.length === 0 && all;
      },
      () =>
        `${owed.length} accepted texts are read; not so are ${missing.map(({ text, queued }) => `${text}${queued ? ' (queued)' : ''}`).join(', ')}`,
      patience,
    );
    assert.deepEqual(
      reads.filter(({ error }) => error !== undefined),
      [],
      'somebody got what could not be read',
    );
    const ours = new Set(this.sent.map(({ text }) => text));
    const twice = [...Map.groupBy(reads, ({ text }) => text)].filter(([text, { length }]) => ours.has(text) && length > 1);
    assert.deepEqual(twice, [], 'no text is read twice');
  }

  /** Asserts that each written text is stored once. For unlinked accounts, only texts whose receipt the platform got count. Returns the ids. */
  async assertStored(): Promise<readonly string[]> {
    const { platform, contacts, unlinked } = this.#options;
    const told = (await Promise.all(contacts.map((contact) => platform.sentBy(contact)))).flat();
    const confirmed = new Set(told.filter(({ status }) => status !== 'sent').map(({ id }) => id));
    const owed = this.written.filter(({ account, id }) => !unlinked.has(account) || confirmed.has(id));
    for (const [account, written] of Map.groupBy(owed, ({ account }) => account)) {
      let missing: readonly Written[] = written;
      await until(
        async () => {
          const counts = Map.groupBy(await account.found({}), ({ messageid }) => messageid);
          for (const { id } of written) assert.ok((counts.get(id)?.length ?? 0) <= 1, `${id} of ${account.number} is stored twice`);
          missing = written.filter(({ id }) => !counts.has(id));
          return missing.length === 0;
        },
        () => `everything for ${account.number} is stored; not so are ${missing.map(({ id }) => id).join(', ')}`,
        patience,
      );
    }
    return owed.map(({ id }) => id);
  }

  /** Asserts that no refused text was read, and that no stored text is still queued. */
  async assertHonest(): Promise<void> {
    const { platform, accounts, contacts } = this.#options;
    const read = new Set((await Promise.all(contacts.map((contact) => platform.received(contact)))).flat().map(({ text }) => text));
    const refused = this.sent.filter(({ status }) => status === 503);
    assert.deepEqual(
      refused.filter(({ text }) => read.has(text)),
      [],
      'a text that was refused went out',
    );
    for (const account of accounts) {
      const waiting = (await account.found({})).filter(({ fromMe, status }) => fromMe && status === 'Queued');
      assert.deepEqual(waiting, [], `${account.number} has texts on their way`);
    }
  }

  async #send(account: Account): Promise<number> {
    const n = this.sent.length;
    const text = `${n} out of ${account.number}, ${this.#options.random()}`;
    const queued = n % queuedEvery === 0;
    // A killed gateway does not answer.
    const answer = await account.call('POST', '/send/text', { number: this.#contactOf(account), text, async: queued }).catch(() => null);
    const status = answer?.status ?? 0;
    this.sent.push({ account, text, queued, status, error: String(answer?.body['error'] ?? '') });
    return status;
  }

  async #write(account: Account): Promise<void> {
    const id = await this.#options.platform.write(this.#contactOf(account), account.number, `${this.written.length} to ${account.number}`);
    this.written.push({ account, id });
  }

  /** Returns one of the two contacts of the account. */
  #contactOf(account: Account): string {
    const { accounts, contacts, random } = this.#options;
    const first = accounts.indexOf(account);
    return contacts[(random() < 0.5 ? first : first + 1) % contacts.length] as string;
  }

  async #goOn(accounts: readonly Account[]): Promise<void> {
    const { random } = this.#options;
    while (this.#going) {
      for (const account of shuffled(accounts, random)) {
        if (!this.#going) return;
        if (this.spared.has(account)) await this.#write(account);
        else await this.once(account);
        await wait(random() * longestPause);
      }
    }
  }
}

/** Waits until each of these messages arrived by webhook. Repeated posts of a message must be the same event. */
export const assertTold = async (receiver: Receiver, ids: readonly string[]): Promise<void> => {
  const events = new Map<string, Set<string>>();
  let read = 0;
  let missing = ids;
  await until(
    () => {
      for (const { id, body } of receiver.posted.slice(read)) {
        const { messageid = '' } = (body['message'] ?? {}) as { readonly messageid?: string };
        events.set(messageid, (events.get(messageid) ?? new Set()).add(id));
      }
      read = receiver.posted.length;
      missing = ids.filter((id) => !events.has(id));
      return missing.length === 0;
    },
    () => `${ids.length} messages are told; not so are ${missing.join(', ')}`,
    patience,
  );
  for (const id of ids) assert.equal(events.get(id)?.size, 1, 'one message is one event');
};
