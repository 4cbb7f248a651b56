/** Tests push names: the name of an account, the name that its client is told, and the name that others see. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { closeCode, connect, createAuth, eventually, opened, openSandbox, qrOf, type Client, type TestSandbox } from './client.ts';

const friend = '5511988880071';
const friendJid = `${friend}@s.whatsapp.net`;

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
});
after(() => cleanUp());

interface Linked {
  /** The name that the client received at the pairing. */
  readonly told: string | undefined;
  readonly client: Client;
  readonly person: () => { readonly name: string; readonly devices: readonly { readonly pushName: string }[] };
}

/** Links a phone. `registered` is the push name in the registration of the client. */
const link = async (number: string, registered: string | undefined, name: string | undefined): Promise<Linked> => {
  const config = registered === undefined ? {} : { pushName: registered };
  const first = connect(sandbox, createAuth(), config);
  await sandbox.sandbox.scan({ qr: await qrOf(first), number, ...(name === undefined ? {} : { name }) });
  assert.equal(await closeCode(first), 515);
  const told = first.auth.creds.me?.name;
  const client = connect(sandbox, first.auth, config);
  await opened(client);
  const person = () => {
    const found = sandbox.sandbox.people().find((one) => one.number === number);
    assert.ok(found);
    return found;
  };
  return { told, client, person };
};

/** Returns the sender's name as a contact and another client see it. */
const seenBy = async ({ client }: Linked, other: Client, otherNumber: string): Promise<readonly unknown[]> => {
  const sent = await client.sock.sendMessage(friendJid, { text: 'to a contact' });
  const received = await eventually(() => sandbox.sandbox.received(friend).find(({ id }) => id === sent?.key.id), 'the text');
  const second = await client.sock.sendMessage(`${otherNumber}@s.whatsapp.net`, { text: 'to a client' });
  const message = await other.wait('messages.upsert', ({ messages }) => messages.find(({ key }) => key.id === second?.key.id));
  return [received.pushName, message.pushName ?? ''];
};

const cases: readonly [sentence: string, registered: string | undefined, scanned: string | undefined, name: string][] = [
  ['with the name of whoever scanned', undefined, 'Ana', 'Ana'],
  ['with the name of the registration, when whoever scanned has none', 'Shop', undefined, 'Shop'],
  ['without any name', undefined, undefined, ''],
];

for (const [at, [sentence, registered, scanned, name]] of cases.entries()) {
  test(`a new account ${sentence}: the client, the phone and others know it as ${JSON.stringify(name)}`, async () => {
    const [number, reader] = [`551199999007${at}`, `551199999008${at}`];
    const other = await link(reader, undefined, 'Reader');
    // The platform knows the number before it has an account.
    await other.client.sock.onWhatsApp(number);
    await sandbox.sandbox.send(friend, number, { kind: 'text', text: 'before' });
    const account = await link(number, registered, scanned);
    assert.equal(account.person().name, name);
    assert.equal(account.told ?? '', name);
    assert.deepEqual(await seenBy(account, other.client, reader), [name, name]);
    const { id } = await sandbox.sandbox.send(number, reader, { kind: 'text', text: 'from the phone' });
    const message = await other.client.wait('messages.upsert', ({ messages }) => messages.find(({ key }) => key.id === id));
    assert.equal(message.pushName ?? '', name);
  });
}

test('an account with a name of its own: it keeps the name when it is linked again without one', async () => {
  const number = '5511999990091';
  await (await link(number, undefined, 'Ana')).client.sock.logout();
  const again = await link(number, 'Shop', undefined);
  assert.equal(again.person().name, 'Ana');
  assert.equal(again.told, 'Ana');
});

test('an account without a name: others see the name that its client sets later', async () => {
  const account = await link('5511999990092', undefined, undefined);
  account.client.auth.creds.me = { ...account.client.auth.creds.me, id: account.client.auth.creds.me?.id ?? '', name: 'Later' };
  await account.client.sock.sendPresenceUpdate('available');
  await eventually(() => account.person().devices[0]?.pushName === 'Later', 'the name of the device');
  const sent = await account.client.sock.sendMessage(friendJid, { text: 'hello' });
  const received = await eventually(() => sandbox.sandbox.received(friend).find(({ id }) => id === sent?.key.id), 'the text');
  assert.equal(received.pushName, 'Later');
});

test('a contact without a given name: it has a name of the platform, as every phone has one', async () => {
  const { name } = await sandbox.sandbox.putPerson({ number: '5511988880079' });
  assert.equal(name, 'Person 0079');
});
