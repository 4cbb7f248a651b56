/** Tests a campaign with kills. `npm run soak:campaigns` does the same with 2,000 recipients and 20 kills. */
import { test } from 'node:test';
import { killCampaign } from '#test/support/campaign-kills.ts';
import { randomOf } from '#test/support/random.ts';

test('kill: a campaign that is killed again and again reaches each recipient once', async (t) => {
  const seed = Date.now() % 100_000;
  const seen = await killCampaign({ recipients: 150, kills: 3, patience: 120_000, random: randomOf(seed) });
  t.diagnostic(`seed ${seed}: ${JSON.stringify(seen)}`);
});
