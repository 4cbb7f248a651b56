/** Tests imports into a cluster. Any node stores a session, another node connects it, and the same import at another node changes nothing. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ArchivedRows } from '#actors/ports.ts';
import { sealLines } from '#src/moving/archive.ts';
import { linesOfFound, linesOfRows } from '#src/moving/archived.ts';
import { noSettings, type FoundSession } from '#src/moving/session.ts';
import { Account } from '#test/support/account.ts';
import { BareSession } from '#test/support/bare-library.ts';
import { runCommand } from '#test/support/commands.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { madeCreds, writeMadeSession } from '#test/support/made-sessions.ts';
import { Nodes } from '#test/support/nodes.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';
import { contact } from '#test/support/scene.ts';
import { endAfterTests } from '#test/support/together.ts';
import { until } from '#test/support/until.ts';

const number = '5511911140001';
const folder = temporaryFolder();
const source = join(folder, 'shop');
let nodes: Nodes;
let second: GatewayProcess;
before(async () => {
  nodes = await Nodes.open();
  second = await nodes.another('second').start();
  const bare = await BareSession.pair(nodes.scene.platform, source, number);
  await bare.write(contact, 'from the bare library');
  await bare.end();
});
after(async () => {
  await nodes?.close();
  await removeFolder(folder);
  // Every pairing of the library leaves a timer of 30 s running.
  endAfterTests();
});

const tokenAt = async (node: GatewayProcess, wanted = number): Promise<string | undefined> => {
  const { body } = await node.call('GET', '/instance/all');
  return (body as unknown as readonly { readonly owner: string; readonly token: string }[]).find(({ owner }) => owner === wanted)?.token;
};

test('cluster: an import into an instance of another node is refused with its name, and one without an owner is filled', async () => {
  const made = async (number: string): Promise<Account> => Account.create(nodes.first, number);
  const [busy, free] = [await made('5511911140002'), await made('5511911140003')];
  const path = join(folder, 'made');
  await writeMadeSession(path, { number: '5511911140003', preKeys: 5 });
  const into = async (account: Account): Promise<string> => {
    const { id } = await account.seen();
    const args = ['--from', 'folder', '--path', path, '--into', id];
    return (await runCommand(second, 'import.ts', args)).output;
  };
  await busy.connect();
  await until(async () => (await busy.seen()).qrcode !== '', 'the first node shows a QR code');
  await until(
    async () => ((await second.call('GET', '/instance/all')).body as unknown as unknown[]).length >= 2,
    'the second node knows both',
  );
  assert.match(await into(busy), /refused: the node first owns the instance \w+: import through that node/);
  assert.match(await into(free), /imported/);
  await until(async () => (await free.seen()).owner === '5511911140003', 'the first node knows the session');
});

test('cluster: messages of an archive follow their session at the node that imports, and are found at the other one', async () => {
  const [path, secret] = [join(folder, 'sessions.dormouse'), join(folder, 'passphrase')];
  const rows = async function* (): AsyncIterable<ArchivedRows> {
    yield {
      of: 'messages',
      rows: [1, 2].map((at) => ({ messageId: `m${at}`, chatId: `${contact}@s.whatsapp.net`, text: `${at}`, timestamp: at })),
    };
  };
  const owner = '5511911140004';
  const session: FoundSession = {
    found: 'session',
    name: 'archived',
    creds: madeCreds(owner),
    keys: async function* () {},
    settings: noSettings,
    state: 'stopped',
    notes: [],
    rows,
  };
  async function* lines(): AsyncIterable<string> {
    yield* linesOfFound(session);
    yield* linesOfRows(rows());
  }
  await writeFile(path, sealLines(lines(), 'correct horse battery staple', 2));
  await writeFile(secret, 'correct horse battery staple');
  const ran = await runCommand(second, 'import.ts', ['--from', 'dormouse', '--path', path, '--secret-file', secret]);
  assert.match(ran.output, /imported, 2 messages and 0 chats added/);
  const token = await until(() => tokenAt(nodes.first, owner), 'the other node knows the instance');
  const found = await Account.of(nodes.first, owner, token).messages(contact);
  assert.deepEqual(
    found.map(({ messageid }) => messageid),
    ['m2', 'm1'],
  );
});

test('cluster: a session that one node imported connects by another one, and is imported once', async () => {
  const ran = await runCommand(second, 'import.ts', ['--from', 'folder', '--path', source]);
  assert.equal(ran.code, 0, ran.output);
  const token = await until(() => tokenAt(nodes.first), 'the other node knows the instance');
  const account = Account.of(nodes.first, number, token);
  const again = await runCommand(nodes.first, 'import.ts', ['--from', 'folder', '--path', source]);
  assert.match(again.output, /already here/);
  assert.equal((await account.seen()).status, 'disconnected');
  await account.connects();
  // The session may move as soon as it is connected. Without NATS only its owner knows that it is connected, and the other node answers 503.
  const sent = async (node: GatewayProcess): Promise<boolean> =>
    (await Account.of(node, number, token).send(contact, 'from the cluster')).status === 200;
  await until(async () => (await sent(nodes.first)) || sent(second), 'the owner sends a text');
  await until(() => nodes.scene.readBy(contact).has('from the cluster'), 'the contact reads the text');
  const { logins, messages } = nodes.scene.platform.sandbox.stats();
  assert.deepEqual([logins.double, messages.undecryptable], [0, 0]);
});
