/** Tests ratchets over crashes. A decrypted message is never needed twice, and a contact can read the next messages of a killed gateway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { unstoredSends } from '#src/platform/keys/unclean-runs.ts';
import { hashOf, plainType } from '#src/platform/keys/ratchets.ts';
import { quietConsole, repairSessionTrials } from '#src/platform/link/library-patches.ts';
import { createFakeVault, type FakeVault } from '#test/fakes/vault.ts';
import { until } from '#test/support/until.ts';
import { type Gateway, groupJid, makeContact, meet, type Party, read, type Sent, startGateway, write } from './parties.ts';

quietConsole();
repairSessionTrials();

const conversation = async (): Promise<{ vault: FakeVault; gateway: Gateway; contact: Party }> => {
  const vault = createFakeVault();
  const [gateway, contact] = [await startGateway(vault), makeContact()];
  await meet(gateway, contact);
  return { vault, gateway, contact };
};

const storedSession = (vault: FakeVault): string => vault.stored.keys.get('session 2002_1.0') ?? '';

test('crash: after messages whose chain was not stored the next ones can be read, before and after the first answer', async () => {
  const { vault, gateway, contact } = await conversation();
  const first = await write(gateway, contact, 'first');
  assert.equal(first.type, 'pkmsg');
  await gateway.auth.durable();
  vault.away = 'write';
  for (let n = 0; n < 20; n += 1) assert.equal(await read(contact, gateway, await write(gateway, contact, `lost ${n}`)), `lost ${n}`);
  vault.away = false;
  const copy = createFakeVault();
  for (const [key, value] of vault.stored.keys) copy.stored.keys.set(key, value);
  copy.stored.credentials = vault.stored.credentials;
  const second = await startGateway(copy);
  assert.equal(await read(contact, second, await write(second, contact, 'after the kill')), 'after the kill');
  assert.equal(await read(contact, second, first), 'first', 'late, and still readable');
  assert.equal(await read(second, contact, await write(contact, second, 'answer')), 'answer');
  const turned = await write(second, contact, 'turned');
  assert.equal(turned.type, 'msg');
  assert.equal(await read(contact, second, turned), 'turned');
  await second.auth.durable();
  const third = await startGateway(copy);
  assert.equal(await read(contact, third, await write(third, contact, 'after another kill')), 'after another kill');
});

test('crash: the keys of a group continue beyond all used ones', async () => {
  const { vault, gateway, contact } = await conversation();
  const say = async (by: Gateway, text: string): Promise<Uint8Array> => {
    const { ciphertext } = await by.repository.encryptGroupMessage({ group: groupJid, meId: by.jid, data: Buffer.from(text) });
    return ciphertext;
  };
  const hear = async (msg: Uint8Array): Promise<string> =>
    Buffer.from(await contact.repository.decryptGroupMessage({ group: groupJid, authorJid: gateway.jid, msg })).toString();
  const key = await gateway.repository.getSenderKeyDistributionMessage({ group: groupJid, meId: gateway.jid });
  const item = { groupId: groupJid, axolotlSenderKeyDistributionMessage: key };
  await contact.repository.processSenderKeyDistributionMessage({ authorJid: gateway.jid, item });
  assert.equal(await hear(await say(gateway, 'one')), 'one');
  await gateway.auth.durable();
  const stored = new Map(vault.stored.keys);
  for (let n = 0; n < 50; n += 1) assert.equal(await hear(await say(gateway, `lost ${n}`)), `lost ${n}`);
  await gateway.auth.durable();
  vault.stored.keys.clear();
  for (const [name, value] of stored) vault.stored.keys.set(name, value);
  const second = await startGateway(vault);
  assert.equal(await hear(await say(second, 'after the kill')), 'after the kill');
});

test('crash: only a run that did not end in order skips keys, and each such run skips them once', async () => {
  const { vault, gateway, contact } = await conversation();
  const counter = (): number => Number(/"counter":(\d+)/.exec(storedSession(vault))?.[1]);
  await write(gateway, contact, 'one');
  await gateway.auth.settled();
  assert.equal(counter(), 0);
  const second = await startGateway(vault);
  await write(second, contact, 'two');
  await second.auth.durable();
  assert.equal(counter(), 1, 'the first run ended in order');
  const third = await startGateway(vault);
  await write(third, contact, 'three');
  await third.auth.settled();
  assert.equal(counter(), 2 + unstoredSends, 'the second did not');
  const fourth = await startGateway(vault);
  await write(fourth, contact, 'four');
  await fourth.auth.settled();
  assert.equal(counter(), 3 + unstoredSends);
});

/** Returns the vault that the next process finds after a kill. */
const killed = (vault: FakeVault): FakeVault => {
  const left = createFakeVault();
  for (const [key, value] of vault.stored.keys) left.stored.keys.set(key, value);
  left.stored.credentials = vault.stored.credentials;
  // The earlier process is gone, so none of its calls may wait.
  vault.away = false;
  return left;
};

interface Conversation {
  /** Prepares the conversation and stores its keys. */
  begin(gateway: Gateway, contact: Party): Promise<void>;
  say(gateway: Gateway, contact: Party, text: string): Promise<Sent>;
  hear(contact: Party, gateway: Gateway, sent: Sent): Promise<string>;
  /** Runs before the first message of each run except for the first. */
  prepare?(gateway: Gateway, contact: Party): Promise<void>;
}

const numbered = (contact: Party): Party => ({ ...contact, jid: '5511988880001@s.whatsapp.net' });
/** Gateways whose run has already moved the session. */
const moved = new WeakSet<Gateway>();

const conversations: readonly (readonly [title: string, conversation: Conversation])[] = [
  ['in a direct chat', { begin: async () => undefined, say: write, hear: read }],
  [
    'in a chat whose session moves from the number to the LID',
    {
      async begin(gateway, contact) {
        await gateway.auth.state.keys.set({ 'device-list': { '5511988880001': ['0'] } });
        await gateway.repository.deleteSession([contact.jid]);
        await meet(gateway, numbered(contact));
      },
      say: (gateway, contact, text) => write(gateway, moved.has(gateway) ? contact : numbered(contact), text),
      hear: read,
      async prepare(gateway, contact) {
        await gateway.repository.migrateSession(numbered(contact).jid, contact.jid);
        moved.add(gateway);
      },
    },
  ],
  [
    'in a group',
    {
      async begin(gateway, contact) {
        const key = await gateway.repository.getSenderKeyDistributionMessage({ group: groupJid, meId: gateway.jid });
        const item = { groupId: groupJid, axolotlSenderKeyDistributionMessage: key };
        await contact.repository.processSenderKeyDistributionMessage({ authorJid: gateway.jid, item });
      },
      async say(gateway, _contact, text) {
        const data = Buffer.from(text);
        const { ciphertext } = await gateway.repository.encryptGroupMessage({ group: groupJid, meId: gateway.jid, data });
        return { type: 'msg', ciphertext };
      },
      hear: async (contact, gateway, { ciphertext: msg }) =>
        Buffer.from(await contact.repository.decryptGroupMessage({ group: groupJid, authorJid: gateway.jid, msg })).toString(),
    },
  ],
];

for (const [title, { begin, say, hear, prepare }] of conversations) {
  test(`crash: runs in a row that could not store their ratchets use no key twice ${title}`, async (t) => {
    const { vault: first, gateway, contact } = await conversation();
    let vault = first;
    t.after(() => (vault.away = false));
    await begin(gateway, contact);
    assert.equal(await hear(contact, gateway, await say(gateway, contact, 'stored')), 'stored');
    await gateway.auth.durable();
    let current = gateway;
    for (const run of ['first', 'second', 'third']) {
      vault.away = 'write';
      if (run !== 'first') await prepare?.(current, contact);
      for (let n = 0; n < unstoredSends - 2; n += 1) {
        const sent = await Promise.race([say(current, contact, `${run} ${n}`), wait(100, null)]);
        if (sent === null) break; // Waiting for the storage is correct.
        assert.equal(await hear(contact, current, sent), `${run} ${n}`);
      }
      vault = killed(vault);
      current = await startGateway(vault);
      // The record of the run is stored with messages to other contacts.
      const other = makeContact('4004@lid');
      await meet(current, other);
      await write(current, other, 'to somebody else');
    }
    assert.equal(await hear(contact, current, await say(current, contact, 'last')), 'last');
  });
}

test('crash: no message leaves before the record of its run is stored, not even the second one', async (t) => {
  const { vault, gateway, contact } = await conversation();
  await write(gateway, contact, 'one');
  await gateway.auth.settled();
  const second = await startGateway(vault);
  vault.away = 'write';
  t.after(() => (vault.away = false));
  const left: string[] = [];
  const sending = ['two', 'three', 'four'].map((text) => write(second, contact, text).then(() => left.push(text)));
  await wait(50);
  assert.deepEqual(left, []);
  vault.away = false;
  await Promise.all(sending);
});

test('send: the record of the run and a new session are stored before the first frame leaves, and later steps do not wait', async () => {
  const { vault, gateway, contact } = await conversation();
  await write(gateway, contact, 'one');
  assert.match(storedSession(vault), /"counter":0/);
  assert.match(vault.stored.keys.get('gateway-run last') ?? '', /"open":true/);
  const writes = vault.writes.length;
  await write(gateway, contact, 'two');
  assert.equal(vault.writes.length, writes);
});

test('send: an answer waits until its ratchet is stored', async () => {
  const { vault, gateway, contact } = await conversation();
  assert.equal(await read(contact, gateway, await write(gateway, contact, 'one')), 'one');
  assert.equal(await read(gateway, contact, await write(contact, gateway, 'question')), 'question');
  const before = storedSession(vault);
  await write(gateway, contact, 'answer');
  assert.notEqual(storedSession(vault), before);
});

test('send: no more messages leave than a start after a crash can skip', async () => {
  const { vault, gateway, contact } = await conversation();
  await write(gateway, contact, 'first');
  await gateway.auth.durable();
  vault.away = 'write';
  let sent = 0;
  const all = Promise.all(Array.from({ length: 150 }, () => write(gateway, contact, 'more').then(() => (sent += 1))));
  await until(() => sent >= unstoredSends - 1, 'messages leave');
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
  assert.equal(sent, unstoredSends - 1);
  vault.away = false;
  await all;
});

test('receive: a plaintext is stored in the write of its ratchet, and replaces decryption afterwards', async () => {
  const { vault, gateway, contact } = await conversation();
  assert.equal(await read(contact, gateway, await write(gateway, contact, 'one')), 'one');
  const torn: number[] = [];
  const { write: store } = vault;
  vault.write = async (instance, epoch, change) => {
    await store(instance, epoch, change);
    const plaintexts = [...vault.stored.keys.keys()].filter((key) => key.startsWith(plainType)).length;
    // The number of the last message that was read in the chain of the contact.
    const counter = /"counter":(\d+),"key":"[^"]*"\},"chainType":2/.exec(storedSession(vault))?.[1];
    const used = counter === undefined ? 0 : Number(counter) + 1;
    if (used !== plaintexts) torn.push(used - plaintexts);
  };
  const sent: Sent[] = [];
  for (let n = 0; n < 60; n += 1) sent.push(await write(contact, gateway, `${n}`));
  for (const [n, one] of sent.entries()) {
    assert.equal(await read(gateway, contact, one), `${n}`);
    if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, n % 3));
  }
  await gateway.auth.durable();
  assert.deepEqual(torn, []);
  for (const [n, one] of sent.entries()) assert.equal(await read(gateway, contact, one), `${n}`);
  assert.ok(vault.stored.keys.has(`${plainType} ${hashOf(sent[0]?.ciphertext ?? new Uint8Array())}`));
});

test('receive: an answer in the old session leaves the new one unchanged', async () => {
  const { gateway, contact } = await conversation();
  assert.equal(await read(contact, gateway, await write(gateway, contact, 'one')), 'one');
  assert.equal(await read(gateway, contact, await write(contact, gateway, 'two')), 'two');
  assert.equal(await read(contact, gateway, await write(gateway, contact, 'three')), 'three');
  const late = await write(contact, gateway, 'written before the new session');
  await meet(gateway, contact);
  const fresh = await write(gateway, contact, 'in the new session');
  assert.equal(await read(gateway, contact, late), 'written before the new session');
  assert.equal(await read(contact, gateway, fresh), 'in the new session');
  assert.equal(await read(gateway, contact, await write(contact, gateway, 'and its answer')), 'and its answer');
});

test('addresses: a contact known by number and by LID can continue in either session when the two are merged', async () => {
  const [gateway, contact] = [await startGateway(createFakeVault()), makeContact()];
  const byNumber: Party = { ...contact, jid: '5511988880001@s.whatsapp.net' };
  await gateway.auth.state.keys.set({ 'device-list': { '5511988880001': ['0'] } });
  await meet(contact, gateway);
  assert.equal(await read(gateway, contact, await write(contact, gateway, 'by LID')), 'by LID');
  assert.equal(await read(contact, gateway, await write(gateway, contact, 'answer')), 'answer');
  await meet(gateway, byNumber);
  const toNumber = await write(gateway, byNumber, 'to the number');
  await gateway.repository.migrateSession(byNumber.jid, contact.jid);
  const late = await write(contact, gateway, 'in the session of the LID');
  assert.equal(late.type, 'msg');
  assert.equal(await read(gateway, contact, late), 'in the session of the LID');
  assert.equal(await read(contact, gateway, toNumber), 'to the number');
  assert.equal(await read(gateway, contact, await write(contact, gateway, 'in the other')), 'in the other');
  assert.equal(await read(contact, gateway, await write(gateway, contact, 'and back')), 'and back');
});
