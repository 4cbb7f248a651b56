/** A small year: an upgrade, expiry, a backup, a logout and a clock that jumps, over rows of 365 days, while a client writes. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runYear } from '#test/soak/year.ts';
import { removeFolder, temporaryFolder } from '#test/support/processes.ts';

const folder = temporaryFolder();
after(() => removeFolder(folder));

test('year: what a year leaves is upgraded, thinned, copied and removed while a client writes', async () => {
  const rows = await runYear({ folder, sessions: 4, days: 365, messages: 4_000, receipts: 2_000, keys: 3_000 });
  const outcomes = new Map(rows.map(({ step, outcome }) => [step, outcome]));
  assert.deepEqual([...outcomes.keys()], ['fill', 'upgrade', 'expiry', 'backup', 'logout', 'clock 200 days forward']);
  const [, messages = '', receipts = ''] = /^(\d+) messages removed, (\d+) receipts/.exec(outcomes.get('expiry') ?? '') ?? [];
  assert.ok(Math.abs(Number(messages) - (4_000 * 185) / 365) < 20, `${messages} messages`);
  assert.ok(Number(receipts) > 1_500 && Number(receipts) <= 2_000, `${receipts} receipts`);
  assert.match(outcomes.get('backup') ?? '', /^\d+ MB in \d+ files$/);
  assert.equal(outcomes.get('clock 200 days forward'), 'nothing is removed until it agrees again');
  for (const { step, slowestWrite } of rows) assert.ok((slowestWrite ?? 0) < 5_000, `${step}: a write took ${slowestWrite} ms`);
});
