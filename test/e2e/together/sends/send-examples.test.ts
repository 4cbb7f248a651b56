/** The answer that the documents show for each send is the one that its example body gets, on a connected instance. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { Account } from '#test/support/account.ts';
import { type Document, mediaOf, operationsOf } from '#test/support/openapi.ts';
import type { Json } from '#test/support/operation-rows.ts';
import { contact, Scene } from '#test/support/scene.ts';

let scene: Scene;
let account: Account;
let document: Document;
before(async () => {
  scene = await Scene.open();
  account = await scene.paired();
  document = (await (await fetch(`${scene.gateway.address}/openapi.json`)).json()) as Document;
});
after(() => scene.close());

const picture = await sharp({ create: { width: 1200, height: 900, channels: 3, background: '#c86432' } })
  .jpeg()
  .toBuffer();

/** The host of the file is not there, and the account has no contacts who would see a post. */
const replaced: Readonly<Record<string, Json>> = {
  'POST /send/media': { file: `data:image/jpeg;base64,${picture.toString('base64')}` },
  'POST /send/status': { recipients: [contact] },
};

/** Fields that are the same in each answer. */
const fixed = ['chatid', 'fromMe', 'isGroup', 'messageType', 'text', 'convertOptions', 'sendFunction', 'wasSentByApi', 'status'] as const;

/** Names and types of all fields; JSON in a text counts as its fields. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'string' && value.startsWith('{')) return shapeOf(JSON.parse(value));
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, one]) => [name, shapeOf(one)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
};

const compared = (answer: Json): Json => ({
  ...Object.fromEntries(fixed.map((name) => [name, answer[name]])),
  content: shapeOf(answer['content']),
  sendPayload: answer['sendPayload'],
  response: shapeOf(answer['response']),
});

test('documents: the answer shown for each send is what its example body gets', async () => {
  const sends = [...operationsOf(document)].filter(
    ([name, { requestBody }]) => name.startsWith('POST /send/') && requestBody !== undefined,
  );
  assert.equal(sends.length, 12);
  for (const [name, { requestBody, responses }] of sends) {
    const body = mediaOf(requestBody?.content).example as Json;
    const shown = mediaOf(responses['200']?.content).example as Json;
    const { status, body: answer } = await account.call('POST', name.slice('POST '.length), { ...body, ...replaced[name] });
    assert.equal(status, 200, `${name}: ${JSON.stringify(answer)}`);
    const payload = name in replaced ? { sendPayload: body } : {};
    assert.deepEqual({ ...compared(answer), ...payload }, compared(shown), name);
  }
});
