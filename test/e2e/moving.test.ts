/** Sessions of the bare library move in without a scan, and everything that waited for them arrives. The simulated phones are the oracle. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Account } from '#test/support/account.ts';
import { BareSession } from '#test/support/bare-library.ts';
import { runCommand } from '#test/support/commands.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const stranger = '5511988880002';
const folder = temporaryFolder();
let scene: Scene;
before(async () => {
  scene = await Scene.open();
});
after(async () => {
  await scene.close();
  await removeFolder(folder);
  // Every pairing of the library leaves a timer of 30 s running.
  setTimeout(() => process.exit(), 200).unref();
});

interface InstanceRow {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly status: string;
  readonly owner: string;
}

const instances = async (): Promise<readonly InstanceRow[]> => {
  const { body } = await scene.gateway.call('GET', '/instance/all');
  return body as unknown as readonly InstanceRow[];
};

/** The instance of this name as an account. */
const accountNamed = async (name: string): Promise<Account> => {
  const row = (await instances()).find((one) => one.name === name);
  assert.ok(row, `there is an instance ${name}`);
  return Account.of(scene.gateway, row.owner, row.token);
};

const received = (number: string): readonly string[] => scene.platform.sandbox.received(number).map(({ text }) => text);

test('import: a session of the bare library connects without a scan, reads what waited, and goes on with old contacts and groups', async () => {
  const { sandbox } = scene.platform;
  const number = '5511911110001';
  const source = join(folder, 'shop');
  const bare = await BareSession.pair(scene.platform, source, number);
  await sandbox.send(contact, number, { kind: 'text', text: 'first of the contact' });
  await bare.reads('first of the contact');
  await bare.write(contact, 'answer of the bare library');
  const group = await sandbox.createGroup({ subject: 'Friends', creator: contact, participants: [number, stranger] });
  await bare.write(group.jid, 'to the group', stranger);
  await bare.end();
  const waiting = await sandbox.send(contact, number, { kind: 'text', text: 'while nobody was there' });

  const imported = await runCommand(scene.gateway, 'import.ts', ['--from', 'folder', '--path', source]);
  assert.equal(imported.code, 0, imported.output);
  const account = await accountNamed('shop');
  assert.equal((await account.seen()).status, 'disconnected');
  const connected = await runCommand(scene.gateway, 'import.ts', ['--from', 'folder', '--path', source, '--connect']);
  assert.match(connected.output, /already here/);
  assert.match(connected.output, /shop: connected/);
  await scene.stored(account, [waiting.id]);
  await account.send(contact, 'after the import');
  await account.send(group.jid, 'to the group after the import');
  await until(() => received(contact).includes('after the import'), 'the contact reads the text');
  for (const reader of [contact, stranger])
    await until(() => received(reader).includes('to the group after the import'), `${reader} reads the text to the group`);
  const late = await sandbox.send(stranger, number, { kind: 'text', text: 'of a stranger' });
  await until(
    async () => (await account.messages(stranger)).some(({ messageid }) => messageid === late.id),
    'the text of a stranger is stored',
  );
  assert.equal(sandbox.stats().messages.undecryptable, 0);
});
