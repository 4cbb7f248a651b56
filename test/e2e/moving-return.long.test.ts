/** Tests that a moved session comes back to a gateway where an older copy of it runs. The simulated phones are the oracle. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Account } from '#test/support/account.ts';
import { runCommand } from '#test/support/commands.ts';
import { MovingScene } from '#test/support/moving-scene.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let moving: MovingScene;
before(async () => {
  moving = await MovingScene.open();
});
after(() => moving.close());

test('import: a session that runs here with older keys comes back after an export with stop, into its named instance', async () => {
  const { gateway, platform } = moving.scene;
  const name = 'returning';
  const back = '5511911110030';
  const { bare } = await moving.used(back, name);
  const secret = join(moving.folder, 'passphrase of the return');
  await writeFile(secret, 'correct horse battery staple');
  const imported = await moving.import(['--from', 'folder', '--path', bare.folder, '--connect']);
  assert.match(imported.output, /returning: connected/);
  const account = await moving.accountNamed(name);
  const exported = async (of: typeof gateway, file: string): Promise<string> => {
    const path = join(moving.folder, file);
    const ran = await runCommand(of, 'export.ts', ['--instance', name, '--out', path, '--passphrase-file', secret, '--stop']);
    assert.equal(ran.code, 0, ran.output);
    return path;
  };
  const other = moving.scene.another({});
  let archive = await exported(gateway, 'there.dormouse');
  const args = () => ['--from', 'dormouse', '--path', archive, '--passphrase-file', secret];
  try {
    await other.start();
    assert.match((await runCommand(other, 'import.ts', [...args(), '--connect'])).output, /returning: connected/);
    await Account.of(other, back, account.token).sends(contact, 'with the newer keys');
    archive = await exported(other, 'back.dormouse');
  } finally {
    await other.close();
  }
  // The session here is connected by mistake.
  await account.call('POST', '/instance/connect', {});
  await until(async () => (await account.seen()).status === 'connected', 'the older copy runs');
  const running = await moving.import(args());
  assert.match(running.output, /refused: the instance \w+ runs with older keys of the session: export it with `--stop` first/);
  await exported(gateway, 'older.dormouse');
  assert.match((await moving.import(args())).output, /already here/);
  const replaced = await moving.import([...args(), '--into', name, '--connect']);
  assert.match(replaced.output, /the keys of the source replace those of the instance/);
  assert.match(replaced.output, /returning: connected/);

  const undecryptable = platform.sandbox.stats().messages.undecryptable;
  await account.sends(contact, 'after the return');
  await moving.readBy(contact, 'after the return');
  const { id } = await platform.sandbox.send(contact, back, { kind: 'text', text: 'welcome back' });
  await moving.scene.stored(account, [id]);
  assert.equal(platform.sandbox.stats().messages.undecryptable, undecryptable);
});
