/** Tests lookups of accounts: numbers in either form, numbers without an account, refusals, and people who are known by their LID alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { USyncQuery, USyncUser } from '@whiskeysockets/baileys';
import { eventually, type Client, openSandbox, pair, type TestSandbox } from './client.ts';

let sandbox: TestSandbox;
let cleanUp: () => Promise<void>;
let client: Client;
const own = '5511900000971';

before(async () => {
  ({ sandbox, cleanUp } = await openSandbox());
  client = await pair(sandbox, { number: own });
});
after(() => cleanUp());

const jid = (number: string): string => `${number}@s.whatsapp.net`;

/** Looks up numbers. Returns the accounts as `id contact lid?`. */
const lookUp = async (...numbers: readonly string[]): Promise<readonly string[]> => {
  const query = new USyncQuery().withContactProtocol().withLIDProtocol();
  for (const number of numbers) query.withUser(new USyncUser().withPhone(`+${number}`));
  const found = await client.sock.executeUSyncQuery(query);
  return (found?.list ?? []).map(({ id, contact, lid }) => `${id} ${contact === true ? 'in' : 'out'}${lid ? ' lid' : ''}`);
};

test('lookups: a Brazilian account is found by both forms of its number, under the one that it is registered with', async () => {
  await sandbox.sandbox.putPerson({ number: '551188880101' });
  const account = `${jid('551188880101')} in lid`;
  assert.deepEqual(await lookUp('5511988880101', '551188880101'), [account, account]);
  assert.deepEqual(await lookUp('5511988880102', '551188880102'), Array(2).fill(`${jid('5511988880102')} in lid`));
  // A fixed line has one form. The number with a nine before it belongs to another person.
  assert.deepEqual(await lookUp('551133330101', '5511933330101'), [`${jid('551133330101')} in lid`, `${jid('5511933330101')} in lid`]);
});

test('lookups: a number without an account is reported as such, until it has an owner', async () => {
  const number = '5511988880103';
  await sandbox.sandbox.putPerson({ number, absent: true });
  assert.deepEqual(await lookUp(number, '999123456789'), [`${jid(number)} out`, `${jid('999123456789')} out`]);
  await sandbox.sandbox.putPerson({ number, absent: false });
  assert.deepEqual(await lookUp(number), [`${jid(number)} in lid`]);
});

test('lookups: they are counted, and refused on demand', async () => {
  const before = sandbox.sandbox.stats().lookups;
  await lookUp('15550201', '15550202');
  await sandbox.sandbox.fault({ kind: 'refuseLookups', number: own });
  await assert.rejects(lookUp('15550201'), ({ data }: { data?: unknown }) => data === 429);
  await lookUp('15550201');
  const { requests, numbers } = sandbox.sandbox.stats().lookups;
  assert.deepEqual([requests - before.requests, numbers - before.numbers], [3, 4]);
});

test('lookups: a person who has migrated gets messages by the LID only', async () => {
  const number = '5511988880104';
  const { lid } = await sandbox.sandbox.putPerson({ number, migrated: true });
  const refused = await client.sock.sendMessage(jid(number), { text: 'to the number' });
  const error = await client.wait('messages.update', (updates) => updates.find(({ key }) => key.id === refused?.key.id));
  assert.equal(error.update.messageStubParameters?.[0], '463');
  const taken = await client.sock.sendMessage(`${lid}@lid`, { text: 'to the LID' });
  await eventually(() => sandbox.sandbox.received(number).some(({ id }) => id === taken?.key.id), 'the text to the LID');
});
