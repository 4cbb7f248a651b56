/** Tests settings of WAHA. Its signature key becomes the secret of the webhook, and settings without a counterpart are listed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wahaSettings } from '#src/moving/readers/waha.ts';

const webhooks = (key: string) => [{ url: 'http://receiver.test', events: ['message'], hmac: { key } }];
const key = 'a key of twenty-four bytes or more';

test('settings of WAHA: its signature key becomes the secret of the webhook, and the format is reported', () => {
  const { webhooks: taken, lost } = wahaSettings({ webhooks: webhooks(key) });
  assert.deepEqual(
    taken.map(({ secret }) => secret),
    [`whsec_${Buffer.from(key).toString('base64')}`],
  );
  assert.deepEqual(lost, ['signature of the webhook: the key is the same, and the form is that of Standard Webhooks']);
});

test('settings of WAHA: a key that is not a valid secret is listed, without its value', () => {
  const { webhooks: taken, lost } = wahaSettings({ webhooks: webhooks('short') });
  assert.deepEqual(
    taken.map(({ secret }) => secret),
    [''],
  );
  assert.match(lost.join(), /^signature of the webhook: its key has less than 24 or more than 64 bytes, and POST \/webhook makes one$/);
});

test('settings of WAHA: metadata are listed by their names, without their values', () => {
  const { lost } = wahaSettings({ metadata: { 'user.id': 'secret-value', plan: 'x' } });
  assert.deepEqual(lost, ['metadata (user.id, plan): it stays there, and adminField01 and adminField02 hold two texts']);
});
