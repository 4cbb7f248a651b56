/** Tests the live stream of events, and the log of sent messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SentLog } from '#src/sandbox/control/sent-log.ts';
import { FakeSandbox } from '#test/fakes/sandbox.ts';
import { serve } from './serve.ts';

const ana = '5511988880001';
const account = '5511900000001';

/** Reads the stream until it has `count` events, or to its end. */
const readEvents = async (response: Response, count: number): Promise<readonly { readonly type: string }[]> => {
  const events: { type: string }[] = [];
  let rest = '';
  assert.ok(response.body);
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const match = /^event: (\w+)\ndata: (.*)$/.exec(block);
      if (!match) continue;
      const event = JSON.parse(match[2] ?? '') as { type: string };
      assert.equal(event.type, match[1]);
      events.push(event);
    }
    if (events.length >= count) break;
  }
  return events;
};

test('stream: sends the events of the world and an event for each sent message, in order', async (t) => {
  const { sandbox, origin, call } = await serve(t);
  const response = await fetch(`${origin}/events`);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  await call('PUT', `/phones/${ana}`, { name: 'Ana\n\nevent: forged' });
  const { body } = (await call('POST', `/contacts/${ana}/messages`, { to: account, text: 'hi' })) as { body: { id: string } };
  sandbox.emit({ type: 'receipt', to: ana, id: body.id, kind: 'read', by: account });
  sandbox.emit({ type: 'presence', of: account, chat: ana, state: 'composing' });
  const events = await readEvents(response, 4);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['person', 'sent', 'receipt', 'presence'],
  );
});

test('stream: ends when the interface closes, and drops a reader that disconnected', async (t) => {
  const { sandbox, origin, close } = await serve(t);
  const left = new AbortController();
  await fetch(`${origin}/events`, { signal: left.signal });
  const staying = await fetch(`${origin}/events`);
  left.abort();
  sandbox.emit({ type: 'presence', of: account, chat: ana, state: 'paused' });
  assert.equal((await readEvents(staying, 1)).length, 1);
  const ending = await fetch(`${origin}/events`);
  const closing = close();
  assert.deepEqual(await readEvents(ending, 99), []);
  await closing;
});

test('stream: HEAD does not open it', async (t) => {
  const { call } = await serve(t);
  assert.equal((await call('HEAD', '/events')).status, 405);
});

test('sent log: a receipt raises the status of a sent message and never lowers it', async () => {
  const sandbox = new FakeSandbox();
  const sentLog = new SentLog(sandbox, { now: () => 42 });
  const { id } = await sentLog.send(ana, account, { kind: 'text', text: 'hi', replyTo: 'A' });
  assert.deepEqual(sentLog.sentBy(ana), [{ id, from: ana, to: account, at: 42, kind: 'text', text: 'hi', about: 'A', status: 'sent' }]);
  for (const kind of ['read', 'delivered'] as const) sandbox.emit({ type: 'receipt', to: ana, id, kind, by: account });
  assert.equal(sentLog.sentBy(ana)[0]?.status, 'read');
  assert.deepEqual(sentLog.sentBy(account), []);
  sentLog.close();
});

test('sent log: a receipt that arrives before the send has returned counts as well', async () => {
  const sandbox = new FakeSandbox();
  const sentLog = new SentLog({
    subscribe: (listener) => sandbox.subscribe(listener),
    async send() {
      sandbox.emit({ type: 'receipt', to: ana, id: 'X', kind: 'delivered', by: account });
      return { id: 'X' };
    },
  });
  await sentLog.send(ana, account, { kind: 'delete', messageId: 'A' });
  assert.deepEqual(
    sentLog.sentBy(ana).map(({ status, about }) => [status, about]),
    [['delivered', 'A']],
  );
});

test('sent log: keeps a bounded number of messages, the newest ones', async () => {
  const sentLog = new SentLog(new FakeSandbox());
  for (let n = 0; n < 5_010; n++) await sentLog.send(ana, account, { kind: 'text', text: String(n) });
  const texts = sentLog.sentBy(ana).map(({ text }) => text);
  assert.deepEqual([texts.length, texts[0], texts.at(-1)], [5_000, '10', '5009']);
});
