/**
 * Sends texts in both directions on the sessions of several nodes, as a careful client does: through any node, with retries after a failure and an
 * idempotency key. Records the answer to each text and compares it with the outcome at the end.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from './account.ts';
import type { GatewayProcess } from './gateway.ts';
import type { PlatformProcess } from './platform-process.ts';
import type { Posted, Receiver } from './receivers.ts';
import { until } from './until.ts';

export interface TrafficOptions {
  readonly platform: PlatformProcess;
  readonly receiver: Receiver;
  readonly gateways: readonly GatewayProcess[];
  readonly accounts: readonly Account[];
  readonly random: () => number;
}

/** A text that a client wanted to send. */
interface Wanted {
  readonly contact: string;
  readonly text: string;
  /** The HTTP statuses of the answers so far. 0 stands for a missing answer. */
  readonly statuses: number[];
}

/** The longest pause between two texts of an account, in each direction. In milliseconds. */
const longestPause = 2_500;
const triesAtMost = 8;
/** The time-out of a request of a client. In milliseconds. */
const answerMs = 12_000;
/** The pause after the first failure of a request. It grows with each further failure. In milliseconds. */
const againMs = 400;
/** The limit of each wait for the gateway or for the platform. In milliseconds. */
const patience = 120_000;

/** HTTP statuses that prove that the gateway sent nothing. */
const certain: ReadonlySet<number> = new Set([409, 503]);
/** HTTP statuses that a client may get while nodes start and stop. 0 stands for a missing answer. */
const usual: ReadonlySet<number> = new Set([0, 200, 409, 503, 504]);

const contactsOf = (number: string): readonly string[] => [`55118${number.slice(-8)}`, `55117${number.slice(-8)}`];

export class FleetTraffic {
  readonly #options: TrafficOptions;
  readonly #wanted: Wanted[] = [];
  /** Ids of the messages of the contacts, by chat, in order. */
  readonly #written = new Map<string, string[]>();
  readonly #paused = { going: false };
  #work: Promise<unknown> = Promise.resolve();

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  start(): void {
    this.#paused.going = true;
    const lanes = this.#options.accounts.flatMap((account) => [
      this.#repeat(() => this.send(account)),
      this.#repeat(() => this.#write(account)),
    ]);
    this.#work = Promise.all(lanes);
    // An error of the work is thrown by `stop`.
    this.#work.catch(() => (this.#paused.going = false));
  }

  async stop(): Promise<void> {
    this.#paused.going = false;
    await this.#work;
  }

  /** Sends a text, and retries until the answer is 200 or the client gives up. */
  async send(account: Account): Promise<void> {
    const { random } = this.#options;
    const contact = this.#contactOf(account);
    const wanted: Wanted = { contact, text: `${this.#wanted.length} from ${account.number} ${random()}`, statuses: [] };
    this.#wanted.push(wanted);
    let key = randomUUID();
    for (let tries = 0, open = false; tries < triesAtMost && !wanted.statuses.includes(200); tries += 1) {
      if (tries > 0) await wait(againMs * tries);
      const status = await this.#try(account, wanted, key);
      wanted.statuses.push(status);
      assert.ok(usual.has(status), `${wanted.text} was answered with ${status}`);
      // Only a text that was certainly not sent may be sent again under another key.
      open ||= !certain.has(status);
      if (!open) key = randomUUID();
    }
  }

  /** Waits until every account has sent and received a further text. */
  async proceeds(): Promise<void> {
    const { accounts, receiver } = this.#options;
    const [before, posts] = [this.#wanted.length, receiver.posted.length];
    let missing: readonly string[] = [];
    await until(
      () => {
        const sent = this.#wanted.slice(before).filter(({ statuses }) => statuses.at(-1) === 200);
        const told = receiver.posted.slice(posts);
        missing = accounts
          .filter(
            ({ number, token }) =>
              !sent.some(({ text }) => text.includes(` ${number} `)) ||
              !told.some((posted) => posted.token === token && messageOf(posted).fromMe === false),
          )
          .map(({ number }) => number);
        return missing.length === 0;
      },
      () => `every account sends and receives; not so do ${missing.join(', ')}`,
      patience,
    );
  }

  /** Asserts that no accepted text is lost, doubled or out of order. */
  async assertKept(): Promise<void> {
    await this.#assertTold();
    await this.#assertRead();
    const { messages, unknown } = await this.#options.platform.stats();
    assert.deepEqual([messages.undecryptable, messages.retryReceipts], [0, 0]);
    assert.deepEqual(unknown, {});
  }

  /** Waits until each of these messages arrived by webhook, always as the same event. Returns all ids in the order of their first arrival. */
  async assertCame(ids: readonly string[]): Promise<readonly string[]> {
    const { posted } = this.#options.receiver;
    const events = new Map<string, string>();
    const wanted = new Set(ids);
    let read = 0;
    let missing = ids;
    await until(
      () => {
        for (const event of posted.slice(read)) {
          const { messageid = '' } = messageOf(event);
          const known = events.get(messageid) ?? event.id;
          // Later events of a message of the account report its delivery status.
          if (wanted.has(messageid)) assert.equal(event.id, known, `${messageid} is one event`);
          events.set(messageid, known);
        }
        read = posted.length;
        missing = missing.filter((id) => !events.has(id));
        return missing.length === 0;
      },
      () => `${ids.length} messages come by webhook; not so do ${missing.join(', ')}`,
      patience,
    );
    return [...events.keys()];
  }

  /** Asserts that no text with answer 200 is missing or doubled, and that texts of a chat arrived in the order of their answers. */
  async #assertRead(): Promise<void> {
    const { platform } = this.#options;
    for (const [contact, wanted] of Map.groupBy(this.#wanted, (one) => one.contact)) {
      const owed = wanted.filter(({ statuses }) => statuses.includes(200)).map(({ text }) => text);
      let texts: readonly string[] = [];
      await until(
        async () => {
          const read = await platform.received(contact);
          assert.deepEqual(
            read.filter(({ error }) => error !== undefined),
            [],
            'somebody got what could not be read',
          );
          texts = read.map(({ text }) => text);
          return owed.every((text) => texts.includes(text));
        },
        () => `${contact} reads what was accepted; not so is ${owed.filter((text) => !texts.includes(text)).join(', ')}`,
        patience,
      );
      const ours = wanted.map(({ text }) => text);
      assert.equal(new Set(texts).size, texts.length, `${contact} read a text twice: ${texts.join(', ')}`);
      assert.deepEqual(
        texts.filter((text) => !ours.includes(text)),
        [],
      );
      const simple = wanted.filter(({ statuses }) => statuses.length === 1 && statuses[0] === 200).map(({ text }) => text);
      assert.deepEqual(
        texts.filter((text) => simple.includes(text)),
        simple,
        `${contact} read texts in another order than they were answered`,
      );
    }
  }

  /** Asserts that each written text came by webhook, as one event each, in the order of its chat. No event was posted twice at once. */
  async #assertTold(): Promise<void> {
    const order = await this.assertCame([...this.#written.values()].flat());
    const places = new Map(order.map((id, at) => [id, at]));
    for (const [chat, written] of this.#written) {
      const inOrder = written.toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0));
      assert.deepEqual(inOrder, written, `the events of ${chat} came in another order than they were written`);
    }
    assert.deepEqual(this.#options.receiver.overlapping, [], 'an event was posted twice at once');
  }

  /** Returns the figures for the report of a run. */
  get figures(): string {
    const statuses = Map.groupBy(
      this.#wanted.flatMap((one) => one.statuses),
      (status) => status,
    );
    const answers = [...statuses].map(([status, { length }]) => `${status}: ${length}`).join(', ');
    const given = this.#wanted.filter((one) => !one.statuses.includes(200)).length;
    const written = [...this.#written.values()].reduce((sum, { length }) => sum + length, 0);
    const { posted } = this.#options.receiver;
    const again = posted.length - new Set(posted.map(({ id }) => id)).size;
    return `${written} written, ${again} events posted again; ${this.#wanted.length} to send, ${given} given up, answers ${answers}`;
  }

  async #try(account: Account, { contact, text }: Wanted, key: string): Promise<number> {
    const { gateways, random } = this.#options;
    const gateway = gateways[Math.floor(random() * gateways.length)] as GatewayProcess;
    const options = { token: account.token, headers: { 'idempotency-key': key }, body: { number: contact, text }, ms: answerMs };
    // A node that is stopped or disconnected does not answer.
    const answer = await gateway.call('POST', '/send/text', options).catch(() => null);
    return answer?.status ?? 0;
  }

  async #write(account: Account): Promise<void> {
    const contact = this.#contactOf(account);
    const chat = `${contact} to ${account.number}`;
    const ids = this.#written.get(chat) ?? [];
    this.#written.set(chat, ids);
    ids.push(await this.#options.platform.write(contact, account.number, `${ids.length} ${chat}`));
  }

  #contactOf({ number }: Account): string {
    const contacts = contactsOf(number);
    return contacts[Math.floor(this.#options.random() * contacts.length)] as string;
  }

  async #repeat(act: () => Promise<void>): Promise<void> {
    while (this.#paused.going) {
      await wait(this.#options.random() * longestPause);
      if (this.#paused.going) await act();
    }
  }
}

const messageOf = ({ body }: Posted): { readonly messageid?: string; readonly fromMe?: boolean } => body['message'] ?? {};
