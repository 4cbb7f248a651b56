/** Tests that commands which cannot start print the reason last and in one sentence. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { root } from '#test/source-tree.ts';
import { GatewayProcess } from '#test/support/gateway.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
after(() => removeFolder(folder));

for (const program of ['import.ts', 'export.ts', 'backup.ts'])
  test(`command: ${program} prints the reason last and not its whole help when an option is unknown`, () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'src', program), '--nothing'], { cwd: folder, encoding: 'utf8' });
    const lines = stderr.trim().split('\n');
    assert.equal(status, 2);
    assert.ok(lines.length <= 3, stderr);
    assert.match(lines.at(-1) ?? '', /'--nothing'/);
  });

for (const program of ['backup.ts', 'restore.ts'])
  test(`command: ${program} refuses an empty --to, which an unset variable leaves`, () => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'src', program), '--to', ''], { cwd: folder, encoding: 'utf8' });
    assert.deepEqual([status, stderr.split(':')[0]], [2, '--to is empty']);
  });

test('command: a restore into the folder of a gateway with DATABASE_URL is refused', () => {
  const env = { ...process.env, DATABASE_URL: 'postgres://localhost/other' };
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'src', 'restore.ts')], { cwd: folder, encoding: 'utf8', env });
  assert.deepEqual([status, stderr.trim().split(':')[0]], [1, 'DATABASE_URL is set']);
});

const failedStart = async (env: Readonly<Record<string, string>>, sentence: RegExp): Promise<void> => {
  const gateway = new GatewayProcess({ fresh: true, env });
  try {
    gateway.launch();
    assert.equal(await gateway.endsWithin(120_000), 1);
    assert.match(gateway.printed, sentence);
  } finally {
    await gateway.close();
  }
};

test('sandbox: a port in use is reported with its setting', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await failedStart(
    { SANDBOX_PORT: String(port) },
    new RegExp(
      `^Dormouse could not start: port ${port} of 127.0.0.1 is taken, which the simulated platform needs: set SANDBOX_PORT to a free one$`,
      'm',
    ),
  );
  other.close();
});

test('sandbox: a data folder in use is named', async () => {
  const first = new GatewayProcess({});
  try {
    await first.start();
    await failedStart(
      { DATA_DIR: first.dataDir },
      /^Dormouse could not start: another simulated platform runs with the data folder .+: stop it, or set DATA_DIR to another folder$/m,
    );
  } finally {
    await first.close();
  }
});
