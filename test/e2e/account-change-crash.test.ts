/** Kills a gateway while it deletes the data of a former account. The instance starts empty all the same, and nothing of that account is sent. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Account } from '#test/support/account.ts';
import { testDatabase } from '#test/support/database.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const database = await testDatabase();
let scene: Scene;
before(async () => {
  scene = await Scene.open({ DATABASE_URL: database.url, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('hex') });
});
after(() => scene.close());

/** Scans the QR code of the instance with another phone, after the request allowed the change of account. */
const scannedByAnother = async (account: Account, number: string): Promise<void> => {
  assert.equal((await account.call('POST', '/instance/connect', { allowAccountChange: true })).status, 200);
  const qrcode = await until(async () => (await account.seen()).qrcode || undefined, 'a picture');
  await scene.platform.scan({ qrcode, number, name: 'Another' });
};

test('account: after a kill between two pieces the new account is empty, without another permission', async () => {
  const account = await scene.paired();
  await scene.works(account);
  const pace = { msg_delay_min: 3600, msg_delay_max: 3600 };
  assert.equal((await account.call('POST', '/instance/updateDelaySettings', pace)).status, 200);
  for (const text of ['first', 'queued before']) await account.call('POST', '/send/text', { number: contact, text, async: true });
  assert.equal((await account.call('POST', '/instance/disconnect')).status, 200);
  await account.reaches('disconnected');
  const { id } = await account.seen();
  const rowsOf = async (table: string): Promise<number> => {
    const text = `select count(*)::int as count from ${table} where instance_id = $1`;
    return (await database.admin.rows<{ count: number }>({ name: '', text }, [id]))[0]?.count ?? 0;
  };
  const other = account.number.replace('5511', '5521');
  await database.admin.transaction(async (runner) => {
    // The piece that deletes chats waits for the lock on these rows.
    await runner.rows({ name: '', text: 'select 1 from chat where instance_id = $1 for update' }, [id]);
    await scannedByAnother(account, other);
    await until(async () => (await rowsOf('message')) === 0, 'the messages are gone');
    await scene.gateway.end('SIGKILL');
    // The server would execute the waiting statement of the dead gateway, so its connection is ended.
    const waiting = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await runner.rows({ name: '', text: waiting }, []);
  });
  assert.ok((await rowsOf('chat')) > 0, 'the chats are left');
  await scene.gateway.start();
  const now = Account.of(scene.gateway, other, account.token);
  await now.reaches('connected');
  assert.equal((await now.seen()).owner, other);
  assert.deepEqual((await now.call('POST', '/chat/find', {})).body['chats'], []);
  await now.call('POST', '/instance/updateDelaySettings', { msg_delay_min: 0, msg_delay_max: 0 });
  await scene.works(now);
  assert.ok(!scene.readBy(contact).has('queued before'));
});
