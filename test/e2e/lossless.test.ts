/** Kills the gateway repeatedly while messages are in flight. Each message is stored once, and every contact can read all later messages. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase } from '#src/storage/postgres/database.ts';
import { EmbeddedServer } from '#src/storage/postgres/embedded.ts';
import type { Account } from '#test/support/account.ts';
import { quietLog, testLimits } from '#test/support/database.ts';
import { randomOf } from '#test/support/random.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

/** The number of kills. The program starts again after each one. */
const kills = Number(process.env['LOSSLESS_KILLS'] ?? 3);
const people = [contact, '5511988880002', '5511988880003', '5511988880004'];

const seed = Number(process.env['LOSSLESS_SEED'] ?? Date.now() % 100_000);

let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(() => scene.close());

/** Returns two counts: messages that contacts could not decrypt, and messages that the gateway could not decrypt. */
const unread = (): readonly number[] => {
  const { undecryptable, retryReceipts } = scene.platform.sandbox.stats().messages;
  return [undecryptable, retryReceipts];
};

interface Stored {
  readonly messageid: string;
  readonly text: string;
}

/** Returns all messages of a chat, page by page. Returns null if the database was too busy, as on a slow machine after a kill. */
const storedIn = async (account: Account, chatid: string): Promise<readonly Stored[] | null> => {
  const all: Stored[] = [];
  for (;;) {
    const { status, body } = await account.call('POST', '/message/find', { chatid, limit: 500, offset: all.length });
    if (status === 503) return null;
    assert.equal(status, 200, JSON.stringify(body));
    const page = body['messages'] as readonly Stored[];
    all.push(...page);
    if (page.length < 500) return all;
  }
};

/** Returns the numbers of rows in the log of received stanzas, and of stored plaintexts of these stanzas. */
const leftBehind = async (): Promise<readonly number[]> => {
  const server = await EmbeddedServer.start({ dataDir: scene.gateway.dataDir, log: quietLog });
  const database = await openDatabase({ url: server.url, log: quietLog, poolSize: 1, limits: testLimits });
  try {
    const text = `select (select count(*) from inbound)::int as stanzas, (select count(*) from signal_key where type = 'inbound-plain')::int as plaintexts`;
    const [row] = await database.rows<{ stanzas: number; plaintexts: number }>({ name: '', text }, []);
    return [row?.stanzas ?? -1, row?.plaintexts ?? -1];
  } finally {
    await database.close();
    await server.close(false);
  }
};

const groupOf = async (account: Account): Promise<string> =>
  (await scene.platform.sandbox.createGroup({ subject: 'Crowd', creator: contact, participants: [...people.slice(1), account.number] }))
    .jid;

/** Returns the routes by which each person writes to each account, and to the group of one account. */
const routesTo = (accounts: readonly Account[], member: Account, group: string) => [
  ...accounts.flatMap((account) => people.map((from) => ({ from, account, to: account.number, chat: `${from}@s.whatsapp.net` }))),
  ...people.map((from) => ({ from, account: member, to: group, chat: group })),
];

test(`lossless: messages that arrive while the gateway is killed are stored once, with their text (seed ${seed})`, async (t) => {
  const random = randomOf(seed);
  const { sandbox } = scene.platform;
  // Busy sessions store their keys in one statement.
  const account = await scene.paired();
  const accounts = [account, await scene.paired(), await scene.paired()];
  const group = await groupOf(account);
  for (const one of accounts) await scene.works(one);
  const routes = routesTo(accounts, account, group);
  /** The text of each sent message, by account, chat and message id. */
  const written = new Map(accounts.map((one) => [one, new Map<string, Map<string, string>>()]));
  for (const route of routes) written.get(route.account)?.set(route.chat, new Map());
  let count = 0;
  const write = async ({ account: receiver, from, to, chat }: (typeof routes)[number]): Promise<void> => {
    count += 1;
    const text = `${count} of ${from} to ${receiver.number} in ${chat}`;
    written
      .get(receiver)
      ?.get(chat)
      ?.set((await sandbox.send(from, to, { kind: 'text', text })).id, text);
  };
  const flow = { going: true };
  const trickle = routes.map(async (route) => {
    while (flow.going) {
      await write(route);
      await wait(100 + random() * 400);
    }
  });
  const before = unread();
  for (let kill = 0; kill < kills; kill += 1) {
    const { acknowledged } = sandbox.stats().messages;
    await until(() => sandbox.stats().messages.acknowledged > acknowledged + 20, 'messages flow');
    const burst = Array.from({ length: 40 }, () => write(routes[Math.floor(random() * routes.length)]!));
    await wait(random() * 200);
    await scene.gateway.end('SIGKILL');
    await Promise.all(burst);
    await scene.gateway.start();
    for (const one of accounts) await one.reaches('connected');
  }
  flow.going = false;
  await Promise.all(trickle);
  const chats = [...written].flatMap(([receiver, texts]) => [...texts].map(([chat, ids]) => [receiver, chat, ids] as const));
  for (const [receiver, chat, texts] of chats) {
    let missing: readonly string[] = [];
    const found = await until(
      async () => {
        const stored = (await storedIn(receiver, chat))?.filter(({ messageid }) => texts.has(messageid)) ?? [];
        missing = [...texts].filter(([id]) => !stored.some(({ messageid }) => messageid === id)).map(([, text]) => text);
        return stored.length >= texts.size && stored;
      },
      () => `all ${texts.size} messages of ${chat} are stored; missing: ${missing.join(', ')}`,
      180_000,
    );
    assert.equal(found.length, texts.size, 'no message is stored twice');
    for (const { messageid, text } of found) assert.equal(text, texts.get(messageid));
  }
  assert.deepEqual(unread(), before, 'everything could be decrypted');
  t.diagnostic(`${count} messages over ${kills} kills`);
  await until(async () => (await leftBehind()).every((rows) => rows === 0), 'nothing is left in the log');
});

/** Checks that the person could read all of these texts, and every other message that it received. */
const readsAll = async (number: string, texts: ReadonlySet<string>): Promise<void> => {
  await until(
    () => {
      const read = scene.readBy(number);
      return [...texts].every((text) => read.has(text));
    },
    () => `${number} reads all ${texts.size} texts that were answered`,
  );
  const received = scene.platform.sandbox.received(number);
  assert.deepEqual(
    received.filter(({ error }) => error !== undefined),
    [],
  );
};

test(`lossless: contacts can read each message that was answered with 200, and each message that is sent after a kill (seed ${seed})`, async (t) => {
  const random = randomOf(seed + 1);
  const { sandbox } = scene.platform;
  const account = await scene.paired();
  const group = await groupOf(account);
  await scene.works(account);
  const before = unread();
  /** Texts that the API answered with 200, by the number of the person who must be able to read them. */
  const answered = new Map<string, Set<string>>(people.map((number) => [number, new Set()]));
  let sent = 0;
  const send = async (to: string, readers: readonly string[], lane: number): Promise<void> => {
    for (let n = 0; ; n += 1) {
      const text = `${lane}.${n} to ${to} ${random()}`;
      // A killed gateway does not answer.
      const answer = await account.send(to, text).catch(() => null);
      if (answer === null) return;
      if (answer.status !== 200) continue;
      sent += 1;
      for (const reader of readers) answered.get(reader)?.add(text);
    }
  };
  const flow = { going: true };
  // Replies advance the ratchets, so the next text is encrypted with a new key.
  const reply = async (from: string): Promise<void> => {
    for (let n = 0; flow.going; n += 1) {
      await sandbox.send(from, account.number, { kind: 'text', text: `${n} back` });
      await wait(random() * 60);
    }
  };
  const replies = people.slice(0, 2).map(reply);
  for (let kill = 0; kill < kills; kill += 1) {
    const sentBefore = sent;
    // Most texts go to the group. The library starts a new session with a contact at every start, but keeps the keys of a group.
    const senders = [
      ...people.slice(0, 2).map((number, lane) => send(number, [number], lane)),
      ...[6, 7, 8, 9].map((lane) => send(group, people, lane)),
    ];
    await until(() => sent > sentBefore + 20, 'texts flow');
    await wait(random() * 500);
    await scene.gateway.end('SIGKILL');
    await Promise.all(senders);
    await scene.gateway.start();
    await account.reaches('connected');
    await scene.works(account);
  }
  flow.going = false;
  await Promise.all(replies);
  for (const [number, texts] of answered) await readsAll(number, texts);
  assert.deepEqual(unread(), before, 'nobody had to ask for a text again');
  t.diagnostic(`${sent} texts over ${kills} kills`);
});
