/** Tests sends of media while the store of files does not answer: requests, queued messages and campaigns. No message is lost, and none leaves twice. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import type { BinaryNode } from '@whiskeysockets/baileys';
import { Agent, type Dispatcher } from 'undici';
import { done, isTaken, refuse, type Send, type SendContent } from '#actors/model.ts';
import { type FileStore, FilesUnavailable, FileUnreadable } from '#actors/ports.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { groupUnknown } from '#src/platform/wire/outcomes.ts';
import { Uploads } from '#src/platform/outbound/upload/uploads.ts';
import { attachmentOf } from '#test/fakes/attachments.ts';
import type { FakeLink } from '#test/fakes/platform.ts';
import { campaignSend } from '#test/support/campaign-rows.ts';
import { media, options, type Stage, staged, text } from './stage.ts';

const send: Send = { ...text('551'), content: media };

const away = () => Promise.reject(new FilesUnavailable('away'));
const unreadable = () => Promise.reject(new FileUnreadable('hash', 'unreadable', {}));
const host: BinaryNode = { tag: 'host', attrs: { hostname: 'media.test' } };
const hosts: BinaryNode = { tag: 'iq', attrs: {}, content: [{ tag: 'media_conn', attrs: { auth: 'a', ttl: '60' }, content: [host] }] };

const uploadsWithoutFiles = (read: () => Promise<never>, localCopy: FileStore['localCopy'] = read, dispatcher?: Dispatcher): Uploads =>
  new Uploads(
    { query: async () => hosts },
    {
      files: { whole: read, localCopy, readThrough: read },
      sealing: { seal: away },
      dispatcher,
      memory: new LruMap(10),
      limits: { wholeMs: 60_000, silenceMs: 60_000 },
      now: () => 0,
    },
  );

/** Lets the link upload files with the real uploads, whose reads fail until the returned function is called. */
const loseFiles = (link: FakeLink, read = away): (() => void) => {
  const uploads = uploadsWithoutFiles(read);
  const { perform } = link;
  link.perform = async (operation, control) => {
    const { name, input } = operation;
    const content = name === 'message.compose' ? (input as { readonly send: Send }).send.content : null;
    if (content?.kind === 'media' && isTaken(content.file)) {
      const uploaded = await uploads.upload('551', content.file, 'document');
      if (!uploaded.ok) return uploaded;
    }
    return perform.call(link, operation, control) as never;
  };
  return () => void (link.perform = perform);
};

const stored = (stage: Stage): readonly string[] =>
  [...stage.world.db.messages.values()].map((message) => `${message.text} ${message.status}`);

/** Queues messages: first one with a file, twice if `files` is 2, and then a text. */
const queue = async (stage: Stage, files = 1): Promise<void> => {
  for (const one of [...Array.from({ length: files }, () => send), text('551', 'behind')])
    assert.ok((await stage.world.answerOf(stage.gateway.send('r1', one, { ...options, async: true }))).ok);
};

/** Creates a campaign. Returns a function that returns the states of its recipients. */
const campaignOf = async (stage: Stage, numbers: readonly string[], content: SendContent = media): Promise<() => Promise<string>> => {
  const recipients = numbers.map((number) => ({ number, own: null }));
  const input = { info: '', delayMin: 1_000, delayMax: 2_000, scheduledFor: 0, shared: { ...campaignSend, content }, recipients };
  const made = await stage.world.answerOf(stage.gateway.createCampaign('r1', input));
  assert.ok(made.ok);
  return async () => {
    const found = await stage.gateway.campaignRecipients('r1', { campaignId: made.value.id, states: null, limit: 10, offset: 0 });
    return found.ok ? found.value.recipients.map(({ state }) => state).join(' ') : '';
  };
};

test('file outage: a request fails with the error of the store, stores nothing, and succeeds later under the same key', async () => {
  const stage = await staged();
  const back = loseFiles(stage.link());
  const once = { key: 'k', request: 'send' };
  const attempt = () => stage.world.answerOf(stage.gateway.send('r1', send, { ...options, once }));
  await assert.rejects(attempt(), FilesUnavailable);
  assert.deepEqual([stage.link().sent.length, stored(stage)], [0, []]);
  back();
  assert.ok((await attempt()).ok);
  assert.equal(stage.link().sent.length, 1);
});

test('file outage: a queued message waits, and leaves before the message behind it', async () => {
  const stage = await staged();
  const back = loseFiles(stage.link());
  await queue(stage);
  await stage.world.time.pass(60_000);
  assert.deepEqual(stored(stage), ['media Queued', 'behind Queued']);
  back();
  await stage.world.time.pass(10_000);
  assert.deepEqual(stored(stage), ['media Sent', 'behind Sent']);
  assert.deepEqual(
    stage.link().sent.map((message) => message.text),
    ['media', 'behind'],
  );
});

test('file outage: a queued message whose file alone cannot be read fails within minutes, and the message behind it leaves', async () => {
  const stage = await staged();
  let tries = 0;
  loseFiles(stage.link(), () => {
    tries += 1;
    return unreadable();
  });
  await queue(stage, 2);
  await stage.world.time.pass(290_000);
  assert.deepEqual(stored(stage), ['media Queued', 'media Queued', 'behind Queued']);
  await stage.world.time.pass(30_000);
  assert.deepEqual(stored(stage), ['media Failed', 'media Failed', 'behind Sent']);
  assert.equal(tries, 12, 'the second message with the same file has one try');
  const [first] = stage.world.db.messages.values();
  assert.equal(first?.error, 'its file cannot be read from the store of files');
});

const large = { ...attachmentOf({ source: 'large', as: 'document', thumbnail: '', mimetype: '', filename: 'a.pdf' }), size: 1024 * 1024 };

test('file outage: a large file that fails during its encryption is read once more, to find out whether only this file fails', async () => {
  let released = 0;
  const copy = async () => ({ path: 'copy', release: async () => void (released += 1) });
  await assert.rejects(uploadsWithoutFiles(unreadable, copy).upload('551', large, 'document'), FileUnreadable);
  assert.equal(released, 1);
});

test('file outage: a large file of a channel that fails during its upload is read once more, to find out whether only this file fails', async () => {
  const server = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const agent = new Agent();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispatcher = agent.compose((dispatch) => (request, handler) => dispatch({ ...request, origin }, handler));
  let released = 0;
  // A folder can be opened like a file, and each read fails.
  const copy = async () => ({ path: tmpdir(), release: async () => void (released += 1) });
  try {
    await assert.rejects(uploadsWithoutFiles(unreadable, copy, dispatcher).upload('551', large, 'newsletter-document'), FileUnreadable);
    assert.equal(released, 1);
  } finally {
    await agent.destroy();
    server.close();
  }
});

test('file outage: a queued message is sent if its file can be read again', async () => {
  const stage = await staged();
  const back = loseFiles(stage.link(), unreadable);
  await queue(stage);
  await stage.world.time.pass(70_000);
  back();
  await stage.world.time.pass(60_000);
  assert.deepEqual(stored(stage), ['media Sent', 'behind Sent']);
});

test('file outage: an outage of the whole store between the tries restarts their time', async () => {
  const stage = await staged();
  let read: () => Promise<never> = unreadable;
  loseFiles(stage.link(), () => read());
  await queue(stage);
  await stage.world.time.pass(250_000);
  read = away;
  await stage.world.time.pass(3_600_000);
  read = unreadable;
  await stage.world.time.pass(290_000);
  assert.deepEqual(stored(stage), ['media Queued', 'behind Queued']);
  await stage.world.time.pass(60_000);
  assert.deepEqual(stored(stage), ['media Failed', 'behind Sent']);
});

test('file outage: a campaign whose file alone cannot be read fails five recipients, and then one a minute', async () => {
  const stage = await staged();
  loseFiles(stage.link(), unreadable);
  const states = await campaignOf(stage, ['551', '552', '553', '554', '555', '556', '557']);
  await stage.world.time.pass(50_000);
  assert.equal(await states(), 'failed failed failed failed failed waiting waiting');
  await stage.world.time.pass(60_000);
  assert.equal(await states(), 'failed failed failed failed failed failed waiting');
});

test('file outage: a recipient about whom the platform never answers fails after five minutes, and the campaign goes on', async () => {
  const stage = await staged();
  stage.link().answer = ({ chatId }) => (chatId.startsWith('551') ? groupUnknown : done({ at: 1 }));
  const states = await campaignOf(stage, ['551', '552'], campaignSend.content);
  await stage.world.time.pass(290_000);
  assert.equal(await states(), 'waiting waiting');
  await stage.world.time.pass(30_000);
  assert.equal(await states(), 'failed sent');
});

test('file outage: a campaign waits, and afterwards each recipient gets the message once', async () => {
  const stage = await staged();
  const back = loseFiles(stage.link());
  const states = await campaignOf(stage, ['551', '552', '553']);
  await stage.world.time.pass(60_000);
  assert.equal(await states(), 'waiting waiting waiting');
  back();
  await stage.world.time.pass(60_000);
  assert.deepEqual([await states(), stage.link().sent.length], ['sent sent sent', 3]);
});

test('file outage: a campaign whose file is not fetched because the server stops keeps its recipient', async () => {
  const stage = await staged();
  const { attachments } = stage.world;
  const { answer } = attachments;
  attachments.answer = () => refuse('unavailable', 'the server is stopping');
  const file = { ...media.file, source: 'http://files.test/a.pdf' };
  const recipients = [{ number: '551', own: { ...campaignSend, content: { ...media, file } } }];
  const made = await stage.world.answerOf(
    stage.gateway.createCampaign('r1', { info: '', delayMin: 1_000, delayMax: 2_000, scheduledFor: 0, shared: null, recipients }),
  );
  assert.ok(made.ok);
  await stage.world.time.pass(10_000);
  assert.ok(attachments.taken.length > 0);
  attachments.answer = answer;
  await stage.world.time.pass(10_000);
  assert.deepEqual(stored(stage), ['media Sent']);
});
