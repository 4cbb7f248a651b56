/** Tests a small year: an upgrade, a clock jump, expiry, a restored backup, and a logout, over rows of 365 days, while a client sends. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runYear } from '#test/soak/year.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
after(() => removeFolder(folder));

test('year: the rows of a year are upgraded, expired, backed up, restored and removed while a gateway uses them', async () => {
  const rows = await runYear({ folder, sessions: 4, days: 365, messages: 4_000, receipts: 2_000, keys: 3_000, traffic: 10 });
  const outcomes = new Map(rows.map(({ step, outcome }) => [step, outcome]));
  const steps = ['fill', 'upgrade', 'traffic', 'clock 200 days forward', 'backup', 'restore', 'sweeps', 'expiry', 'logout'];
  assert.deepEqual([...outcomes.keys()], steps);
  for (const step of ['clock 200 days forward', 'restore', 'sweeps']) assert.equal(outcomes.get(step), 'nothing is gone', step);
  const removed = (name: string): number =>
    Number(new RegExp(`"name":"${name}","rows":(\\d+)`).exec(outcomes.get('expiry') ?? '')?.[1] ?? 0);
  assert.ok(Math.abs(removed('messages') - (4_000 * 185) / 365) < 20, `${removed('messages')} messages`);
  assert.ok(Math.abs(removed('receipts') - (2_000 * 150) / 365) < 50, `${removed('receipts')} receipts`);
  assert.match(outcomes.get('backup') ?? '', /^\d+ MB in \d+ files$/);
  assert.match(outcomes.get('logout') ?? '', /^answered 200 /);
  for (const { step, slowestWrite, log } of rows) {
    assert.ok((slowestWrite ?? 0) < 15_000, `${step}: a write took ${slowestWrite} ms`);
    assert.ok(log >= 0, `${step}: ${log} bytes of log`);
  }
});
