/** Tests questions to the user of a client of the Model Context Protocol: their content, their number, and their end. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Questions } from '#src/http/mcp/questions.ts';
import { asInstance, setUp } from './setup.ts';

const json = { ...asInstance, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface Answer {
  readonly id?: number;
  readonly params?: { readonly message: string };
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
}

/** The event stream that answers a call. */
interface Stream {
  /** Returns the next message of the stream, or null at its end. */
  next(): Promise<Answer | null>;
  /** Closes the connection. */
  leave(): void;
}

const streamOf = (response: Response, abort: AbortController): Stream => {
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    async next() {
      for (;;) {
        const [whole, data = ''] = /^data: (.*)$/m.exec(text) ?? [];
        const end = text.indexOf('\n\n');
        if (end >= 0) text = text.slice(end + 2);
        if (end >= 0 && whole !== undefined) return JSON.parse(data) as Answer;
        const { value, done } = await reader.read();
        if (done) return null;
        text += value;
      }
    },
    leave: () => abort.abort(),
  };
};

const stage = async (t: TestContext) => {
  const { address } = await setUp(t, { mcpTools: ['reading', 'sending', 'changing'] });
  const url = `${await address()}/mcp`;
  const post = (body: object, session = '', signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      headers: { ...json, ...(session === '' ? {} : { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal ? { signal } : {}),
    });
  let id = 100;
  return {
    post,
    async begin(more: object = {}): Promise<string> {
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: {} },
        clientInfo: { name: 'test', version: '1' },
        ...more,
      };
      const begun = await post({ id: 1, method: 'initialize', params });
      await begun.text();
      return begun.headers.get('mcp-session-id') ?? '';
    },
    async call(session: string, name: string, input: object, more: object = {}): Promise<Stream & { readonly id: number }> {
      const abort = new AbortController();
      t.after(() => abort.abort());
      id += 1;
      const params = { name, arguments: input, ...more };
      return { id, ...streamOf(await post({ id, method: 'tools/call', params }, session, abort.signal), abort) };
    },
  };
};

const leave = ['leaveGroup', { groupjid: '1@g.us' }] as const;

/** Returns the question to the user that a call causes, or the error text of the call. */
const outcomeOf = async (stream: Stream): Promise<string> => {
  const first = await stream.next();
  return first?.params?.message ?? first?.result?.content[0]?.text ?? '';
};

test('questions: a session has five open ones, and a client that leaves ends its own', async (t) => {
  const { begin, call } = await stage(t);
  const session = await begin();
  const open = [];
  for (let n = 0; n < 5; n += 1) open.push(await call(session, ...leave));
  for (const one of open) assert.match(await outcomeOf(one), /^Leave a group/);
  assert.match(await outcomeOf(await call(session, ...leave)), /the session has 5 open questions, so nothing was done/);
  assert.match(await outcomeOf(await call(await begin(), ...leave)), /^Leave a group/, 'another session may ask');
  open[0]?.leave();
  await assert.doesNotReject(async () => {
    for (;;) if ((await outcomeOf(await call(session, ...leave))).startsWith('Leave a group')) return;
  });
});

test('questions: an instance has at most 20 open questions in all sessions', async (t) => {
  const { begin, call } = await stage(t);
  for (let n = 0; n < 4; n += 1) {
    const session = await begin();
    for (let m = 0; m < 5; m += 1) assert.match(await outcomeOf(await call(session, ...leave)), /^Leave a group/);
  }
  assert.match(await outcomeOf(await call(await begin(), ...leave)), /the instance has 20 open questions/);
});

test('questions: the gateway has at most 200 open questions, and a closed question makes room for another', () => {
  const questions = new Questions();
  const open = (instance: number) => questions.open(`i${instance}`, {});
  const closers = Array.from({ length: 200 }, (_, n) => open(n >> 4));
  assert.ok(closers.every((close) => typeof close === 'function'));
  assert.equal(open(100), 'the gateway has 200 open questions');
  const [close] = closers;
  if (typeof close === 'function') close();
  assert.equal(typeof open(100), 'function');
  assert.equal(typeof open(101), 'string');
});

test('questions: a call that the client cancels ends with its stream, and makes room for another', async (t) => {
  const { begin, call, post } = await stage(t);
  const session = await begin();
  for (let n = 0; n < 7; n += 1) {
    const asked = await call(session, ...leave);
    assert.match(await outcomeOf(asked), /^Leave a group/);
    await post({ method: 'notifications/cancelled', params: { requestId: asked.id } }, session);
    while ((await asked.next()) !== null);
  }
});

test('questions: a call with a message of more than 64 KB is refused', async (t) => {
  const { begin, call } = await stage(t);
  const session = await begin();
  const long = 'x'.repeat(66_000);
  for (const [input, more] of [
    [{ groupjid: long }, {}],
    [{ groupjid: '1@g.us' }, { padding: long }],
  ] as const)
    assert.match(
      await outcomeOf(await call(session, 'leaveGroup', input, more)),
      /too long to be shown.*nothing was done.*POST \/group\/leave/,
    );
});

test('questions: a client with an oversized description of itself gets no session', async (t) => {
  const { post } = await stage(t);
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {}, experimental: { pad: { text: 'x'.repeat(20_000) } } } };
  const answer = await post({ id: 1, method: 'initialize', params: { ...params, clientInfo: { name: 'test', version: '1' } } });
  assert.deepEqual([answer.status, await answer.json()], [400, { error: 'the message that begins a session may have 16384 characters' }]);
});

test('questions: every argument is shown in the order of the schema, each cut by itself', async (t) => {
  const { begin, call } = await stage(t);
  const session = await begin();
  const url = `https://user:${'p'.repeat(500)}@evil.example/steal`;
  const input = { action: 'add', headers: { 'x-pad': 'p'.repeat(5_000), 'x-other': 'seen' }, events: ['messages'], url, enabled: true };
  const asked = await outcomeOf(await call(session, 'saveWebhook', input));
  const [, ...lines] = asked.split('\n');
  assert.deepEqual(
    lines.map((line) => line.slice(0, line.indexOf(':'))),
    ['enabled', 'url', 'events', 'headers.x-pad', 'headers.x-other', 'action'],
  );
  assert.ok(asked.includes(`url: "${url}"`), 'an address is whole');
  assert.match(asked, /headers\.x-pad: "p{299}… \(4702 more characters\)\n/);
});

test('questions: no value can begin a new line or change the direction of the text', async (t) => {
  const { begin, call } = await stage(t);
  const text = 'a\nurl: "https://good.example"\u2028b\u202ec';
  const asked = await outcomeOf(await call(await begin(), 'editQuickReply', { id: '', shortCut: 'x', type: 'text', text }));
  assert.equal(asked.split(/[\n\u2028]/).length, 5);
  assert.ok(asked.includes('b\\u{202e}c'), asked);
});

test('questions: an unknown argument is refused, so that none hides the others', async (t) => {
  const { begin, call } = await stage(t);
  const session = await begin();
  const padded = { note: 'Routine refresh. '.repeat(70), url: 'https://evil.example/steal' };
  assert.equal(await outcomeOf(await call(session, 'saveWebhook', padded)), '{"error":"saveWebhook has no argument note"}');
});

test('questions: a call that does not fit into a question is refused with the reason', async (t) => {
  const { begin, call } = await stage(t);
  const session = await begin();
  const messages = Array.from({ length: 300 }, (_, n) => ({ number: `55119999${n}`, type: 'text', text: 'hello' }));
  assert.match(
    await outcomeOf(await call(session, 'sendAdvancedCampaign', { messages })),
    /too long to be shown to a person, so nothing was done\. A person can call POST \/sender\/advanced instead/,
  );
  const headers = { a: { a: { a: { a: { a: { a: { a: 1 } } } } } } };
  assert.match(await outcomeOf(await call(session, 'saveWebhook', { url: 'http://a.example/', headers })), /too long to be shown/);
});

test('questions: a long list of numbers is cut, with the count of the hidden numbers', async (t) => {
  const { begin, call } = await stage(t);
  const numbers = Array.from({ length: 1_000 }, (_, n) => String(5_511_900_000_000 + n));
  const asked = await outcomeOf(await call(await begin(), 'changeOptOuts', { numbers, optedOut: true }));
  assert.match(asked, /numbers: \["5511900000000",.*… \(15701 more characters\)\noptedOut: true$/);
});
