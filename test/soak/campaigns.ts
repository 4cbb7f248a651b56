/** Runs a campaign with 2,000 recipients and 20 kills (`npm run soak:campaigns`). Every recipient gets the text once, or is listed as unknown. */
import { test } from 'node:test';
import { killCampaign } from '#test/support/campaign-kills.ts';
import { randomOf } from '#test/support/random.ts';

const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 100_000);

test('soak: a campaign of 2,000 recipients over 20 kills reaches each recipient at most once, and lists the others as unknown', async (t) => {
  const seen = await killCampaign({ recipients: 2_000, kills: 20, patience: 300_000, random: randomOf(seed) });
  t.diagnostic(`seed ${seed}: ${JSON.stringify(seen)}`);
});
