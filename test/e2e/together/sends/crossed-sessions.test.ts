/** Tests contacts and sessions that write to each other first at the same moment, then continue. Every message is read at the first attempt. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import { Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const accounts = 4;
const contactsEach = 3;
const trafficMs = 6_000;
/**
 * The delay of each stanza of the platform while first messages cross. In milliseconds. The gateway sends two queries before its first message. For one and a
 * half delays the contact does not know the gateway's session, and for another delay the gateway does not know the contact's.
 */
const delay = 300;

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

interface Pair {
  readonly account: Account;
  readonly contact: string;
  /** Texts that the contact must read. `ids` are the messages that the gateway must store. */
  readonly texts: Set<string>;
  readonly ids: Set<string>;
}

const send = async ({ account, contact, texts }: Pair, text: string): Promise<void> => {
  const { status, body } = await account.send(contact, text);
  assert.equal(status, 200, JSON.stringify(body));
  texts.add(text);
};

const write = async ({ account, contact, ids }: Pair, text: string): Promise<void> => {
  ids.add((await scene.platform.sandbox.send(contact, account.number, { kind: 'text', text })).id);
};

/** Lets gateway and contact begin a session before either has received the other's. */
const cross = async (pair: Pair): Promise<void> => {
  const sent = send(pair, 'first of the gateway');
  await wait(1.5 * delay);
  await write(pair, 'first of the contact');
  await sent;
};

const goOn = async (pair: Pair): Promise<void> => {
  const end = Date.now() + trafficMs;
  const lane = async (step: (n: number) => Promise<void>): Promise<void> => {
    for (let n = 0; Date.now() < end; n += 1) {
      await step(n);
      await wait(Math.random() * 120);
    }
  };
  await Promise.all([lane((n) => send(pair, `${n} of the gateway`)), lane((n) => write(pair, `${n} of the contact`))]);
};

/** Checks that every text arrives once and without a retry. */
const arrives = async ({ account, contact, texts, ids }: Pair): Promise<void> => {
  const from = (): readonly string[] =>
    scene.platform.sandbox.received(contact).flatMap((one) => (one.from === account.number ? [one.text] : []));
  await until(
    () => [...texts].every((text) => from().includes(text)),
    () => `${contact} reads ${[...texts].filter((text) => !from().includes(text)).join(', ')} of ${account.number}`,
  );
  assert.equal(from().length, texts.size, `${contact} reads each text of ${account.number} once`);
  await until(async () => {
    const stored = new Set((await account.messages(contact)).map(({ messageid }) => messageid));
    return [...ids].every((id) => stored.has(id));
  }, `everything of ${contact} is stored for ${account.number}`);
};

test('crossed sessions: after crossed first messages and texts in both directions, no side requests a message again', async (t) => {
  const { sandbox } = scene.platform;
  const all: Pair[][] = [];
  for (let n = 0; n < accounts; n += 1) {
    const account = await scene.paired();
    const contacts = Array.from({ length: contactsEach }, (_, at) => `5511988880${n}${at}0`);
    all.push(contacts.map((contact) => ({ account, contact, texts: new Set(), ids: new Set() })));
  }
  await sandbox.fault({ kind: 'delay', ms: delay });
  // The contacts take turns, because the library queries one contact at a time.
  await Promise.all(
    all.map(async (pairs) => {
      for (const pair of pairs) await cross(pair);
    }),
  );
  await sandbox.fault({ kind: 'delay', times: 0 });
  await Promise.all(all.flat().map(goOn));
  for (const pair of all.flat()) await arrives(pair);
  const { messages } = sandbox.stats();
  t.diagnostic(
    `${messages.decrypted} texts out, ${messages.acknowledged} in, ${messages.retryReceipts} asked again by sessions, ${messages.undecryptable} unreadable for contacts`,
  );
  assert.deepEqual([messages.undecryptable, messages.retryReceipts], [0, 0]);
});
