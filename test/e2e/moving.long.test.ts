/** Tests that sessions of the bare library are imported without a scan, and exported again. The simulated phones are the oracle. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Account } from '#test/support/account.ts';
import { BareSession } from '#test/support/bare-library.ts';
import { runCommand } from '#test/support/commands.ts';
import { adminToken } from '#test/support/gateway.ts';
import { MovingScene, type Used } from '#test/support/moving-scene.ts';
import { writeMadeSession } from '#test/support/made-sessions.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const number = '5511911110001';
let moving: MovingScene;
let used: Used;
let source = '';
before(async () => {
  moving = await MovingScene.open();
  used = await moving.used(number, 'shop');
  source = used.bare.folder;
});
after(() => moving.close());

const logins = (): number => moving.scene.platform.sandbox.stats().logins.byNumber[number] ?? 0;

test('import: a dry run reports what an import would do, and changes nothing', async () => {
  const before = await readdir(source);
  const ran = await moving.import(['--from', 'folder', '--path', source, '--dry-run', '--connect']);
  assert.equal(ran.code, 0, ran.output);
  assert.match(ran.output, new RegExp(`shop +${number} +\\d+ +can be imported`));
  assert.match(ran.output, /stop it there before you connect it here/);
  assert.deepEqual(await moving.instances(), []);
  assert.deepEqual(await readdir(source), before);
});

test('import: a Baileys session stays disconnected after the import and a restart, and then connects without a scan', async () => {
  const { gateway } = moving.scene;
  const before = logins();
  const ran = await moving.import(['--from', 'folder', '--path', source]);
  assert.equal(ran.code, 0, ran.output);
  assert.match(ran.output, /imported/);
  assert.equal((await (await moving.accountNamed('shop')).seen()).status, 'disconnected');
  await gateway.end('SIGTERM');
  await gateway.start();
  const account = await moving.accountNamed('shop');
  assert.equal((await account.seen()).status, 'disconnected');
  assert.equal(logins(), before, 'nothing logged in');

  const again = await moving.import(['--from', 'folder', '--path', source, '--connect']);
  assert.equal(again.code, 0, again.output);
  assert.match(again.output, /already here/);
  assert.match(again.output, /shop: connected/);
  await moving.goesOn(account, used);
  assert.equal((await moving.instances()).length, 1);
  const { logins: all, messages } = moving.scene.platform.sandbox.stats();
  assert.deepEqual([all.double, messages.undecryptable], [0, 0]);
});

test('import: a session for a paired instance is refused, and broken, incomplete and foreign folders do not stop the others', async () => {
  const folder = join(moving.folder, 'several');
  await writeMadeSession(join(folder, 'a-good'), { number: '5511911110010', preKeys: 30, people: 2 });
  await writeMadeSession(join(folder, 'b-cut'), { number: '5511911110011', preKeys: 3 });
  const creds = await readFile(join(folder, 'b-cut', 'creds.json'), 'utf8');
  await writeFile(join(folder, 'b-cut', 'creds.json'), creds.slice(0, creds.length / 2));
  await writeMadeSession(join(folder, 'c-half'), { number: '5511911110012', preKeys: 3 });
  await writeFile(join(folder, 'c-half', 'pre-key-2.json'), '{"public":');
  await writeMadeSession(join(folder, 'd-unpaired'), { number: '5511911110013', preKeys: 3 });
  const { me: _me, account: _account, ...fresh } = JSON.parse(creds) as Record<string, unknown>;
  await writeFile(join(folder, 'd-unpaired', 'creds.json'), JSON.stringify(fresh));
  await writeMadeSession(join(folder, 'shop'), { number: '5511911110014', preKeys: 3 });
  await writeMadeSession(join(folder, 'z-good'), { number: '5511911110015', preKeys: 30 });

  const ran = await moving.import(['--from', 'folder', '--path', folder]);
  assert.equal(ran.code, 1, ran.output);
  assert.match(ran.output, /a-good +5511911110010 +\w+ +\d+ +imported/);
  assert.match(ran.output, /b-cut .*refused: creds.json cannot be read: the text is cut off or is no JSON/);
  assert.match(ran.output, /c-half .*refused: the file of a pre-key cannot be read/);
  assert.match(ran.output, /d-unpaired .*refused: the session was never paired/);
  assert.match(ran.output, /shop .*refused: the instance \w+ has a paired session/);
  assert.match(ran.output, /z-good +5511911110015 .*imported/);
  assert.deepEqual((await moving.instances()).map(({ name }) => name).toSorted(), ['a-good', 'shop', 'z-good']);
});

test('import: an existing instance gets the session by its id, as soon as its own pairing has ended', async () => {
  const { gateway } = moving.scene;
  const folder = join(moving.folder, 'into');
  await writeMadeSession(folder, { number: '5511911110020', preKeys: 5 });
  const account = await moving.scene.create();
  const [{ id } = { id: '' }] = (await moving.instances()).filter(({ token }) => token === account.token);
  await account.call('POST', '/instance/connect', {});
  await until(async () => (await account.seen()).qrcode !== '', 'a QR code is shown');
  const busy = await moving.import(['--from', 'folder', '--path', folder, '--into', id]);
  assert.match(busy.output, /refused: the instance is being connected/);
  await account.call('POST', '/instance/disconnect', {});
  const ran = await moving.import(['--from', 'folder', '--path', folder, '--into', id]);
  assert.equal(ran.code, 0, ran.output);
  const row = (await moving.instances()).find((one) => one.id === id);
  assert.deepEqual([row?.owner, row?.token, row?.status], ['5511911110020', account.token, 'disconnected']);
  const wrong = await gateway.call('POST', '/admin/import?from=nothing', { body: {} });
  assert.deepEqual([wrong.status, /from must be one of folder/.test(String(wrong.body['error']))], [400, true]);
});

test('export: a session moves to another gateway as an archive, and back to Baileys as a folder', async () => {
  const { gateway, platform } = moving.scene;
  const archive = join(moving.folder, 'sessions.dormouse');
  const secret = join(moving.folder, 'passphrase');
  await writeFile(secret, 'correct horse battery staple\n');
  const args = ['--instance', 'shop', '--out', archive, '--passphrase-file', secret];
  const refused = await runCommand(gateway, 'export.ts', args);
  assert.match(refused.output, /409: the session of the instance \w+ runs/);
  const ran = await runCommand(gateway, 'export.ts', [...args, '--stop']);
  assert.equal(ran.code, 0, ran.output);
  assert.match(ran.output, /The archive is whole/);
  const account = await moving.accountNamed('shop');
  assert.equal((await account.seen()).status, 'disconnected');

  const other = moving.scene.another({});
  try {
    await other.start();
    await writeFile(join(moving.folder, 'wrong'), 'another passphrase');
    const wrong = await runCommand(other, 'import.ts', [
      '--from',
      'dormouse',
      '--path',
      archive,
      '--passphrase-file',
      join(moving.folder, 'wrong'),
    ]);
    assert.match(wrong.output, /The passphrase is not the one of this archive/);
    const moved = await runCommand(other, 'import.ts', ['--from', 'dormouse', '--path', archive, '--secret-file', secret, '--connect']);
    assert.equal(moved.code, 0, moved.output);
    assert.match(moved.output, /shop: connected/);
    const there = Account.of(other, number, account.token);
    await there.sends(contact, 'from the other gateway');
    await moving.readBy(contact, 'from the other gateway');
    const back = await runCommand(other, 'export.ts', ['--as', 'folder', '--out', join(moving.folder, 'out'), '--stop']);
    assert.equal(back.code, 0, back.output);
    assert.ok(!other.printed.includes(account.token), 'no token is in the log');
  } finally {
    await other.close();
  }
  const bare = new BareSession(platform, join(moving.folder, 'out', 'shop'), number);
  await bare.login();
  await bare.write(contact, 'from the bare library again');
  await bare.end();
  assert.equal(platform.sandbox.stats().messages.undecryptable, 0);
});

test('import: no secret of a session is in the log', async () => {
  const { printed } = moving.scene.gateway;
  const creds = await readFile(join(source, 'creds.json'), 'utf8');
  const secrets = [...creds.matchAll(/"data":"([^"]{20,})"/g)].map(([, text = '']) => text);
  assert.ok(secrets.length > 5);
  for (const secret of [...secrets, adminToken, ...(await moving.instances()).map(({ token }) => token)])
    assert.ok(!printed.includes(secret), 'a secret is in the log');
});
