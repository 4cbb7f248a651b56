/** Tests that the documented answer of each send is the answer to its example body on a connected instance. */
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

/** Fields that replace those of the examples. The host of the example file does not exist, and the account has no contacts who would see a post. */
const replaced: Readonly<Record<string, Json>> = {
  'POST /send/media': { file: `data:image/jpeg;base64,${picture.toString('base64')}` },
  'POST /send/status': { recipients: [contact] },
};

/** Returns the names of all fields, with the name of each button, in the form of the description of a send. */
const outlineOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${outlineOf(value[0])}]`;
  if (typeof value !== 'object' || value === null) return '';
  const fields = Object.entries(value).map(([name, one]) => {
    const inner = name === 'name' && 'buttonParamsJSON' in value ? JSON.stringify(one) : outlineOf(one);
    return inner === '' ? name : `${name}: ${inner}`;
  });
  return `{${fields.join(', ')}}`;
};

test('documents: the documented message of each send is the message of its example body', async () => {
  const sends = [...operationsOf(document)].filter(
    ([name, { requestBody }]) => name.startsWith('POST /send/') && requestBody !== undefined,
  );
  assert.equal(sends.length, 12);
  for (const [name, { requestBody, description = '' }] of sends) {
    const body = mediaOf(requestBody?.content).example as Json;
    const { status, body: answer } = await account.call('POST', name.slice('POST '.length), { ...body, ...replaced[name] });
    assert.equal(status, 200, `${name}: ${JSON.stringify(answer)}`);
    const text = `the \`messageType\` \`${String(answer['messageType'])}\` and the \`content\` \`${outlineOf(answer['content'])}\``;
    assert.ok(description.includes(text), `${name}: ${text}`);
    const payload = name in replaced ? {} : { sendPayload: body };
    assert.deepEqual({ ...answer, sendFunction: name.slice('POST '.length), fromMe: true, wasSentByApi: true, ...payload }, answer, name);
  }
});
