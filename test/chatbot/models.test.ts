/** Tests requests to model services and the use of their answers. The real client runs against a server that checks the protocol. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChatbotAgent } from '#actors/model.ts';
import type { ModelAnswer, ModelQuestion } from '#actors/ports.ts';
import { OpenAiModels } from '#src/chatbot/models.ts';
import { AddressGuard } from '#src/webhooks/address-guard.ts';
import { sampleAgent } from '#test/fakes/chatbot.ts';
import { type ModelServer, openModelServer, type Script } from '#test/support/model-server.ts';
import { until } from '#test/support/until.ts';

const key = 'sk-verysecret0123456789';
const options = { userAgent: 'Dormouse/test', timeoutMs: 60_000, connections: 4 };
const models = new OpenAiModels({ ...options, guard: new AddressGuard({ allow: ['loopback'] }) });
let server: ModelServer;

before(async () => void (server = await openModelServer(key)));
after(async () => {
  assert.deepEqual(server.objections, []);
  await models.close();
  await server.close();
});

const question = (agent: Partial<ChatbotAgent> = {}, change: Partial<ModelQuestion> = {}): ModelQuestion => ({
  agent: { ...sampleAgent, baseUrl: server.url, ...agent },
  key,
  prompt: 'You sell flowers.',
  dialogue: [{ by: 'user', text: 'hi' }],
  maxTokens: 100,
  labels: ['VIP'],
  ...change,
});
const never = new AbortController().signal;
const ask = (script: Script, given = question(), signal = never): Promise<ModelAnswer> => {
  server.answer = () => script;
  return models.ask(given, signal);
};

test('models: a question has the prompt, the dialogue and the configured options, and the answer its text and tokens', async () => {
  const answer = await ask({ text: 'Hello!' }, question({ temperature: 30, diversity: 50, presencePenalty: 0 }));
  assert.ok(answer.ok);
  assert.deepEqual([answer.text, answer.tokens, answer.wishes], ['Hello!', 15, []]);
  const messages = [
    { role: 'system', content: 'You sell flowers.' },
    { role: 'user', content: 'hi' },
  ];
  assert.deepEqual(server.asked.at(-1), { model: 'small', temperature: 0.3, top_p: 0.5, presence_penalty: 0, max_tokens: 100, messages });
  assert.deepEqual(answer.request, {
    messages,
    tools: [],
    options: { model: 'small', maxTokens: 100, temperature: 0.3, topP: 0.5, presencePenalty: 0 },
  });
  assert.ok(!JSON.stringify(answer).includes(key));
});

test('models: tools are offered as configured for the agent, and their calls are returned with their results', async () => {
  const media = [{ name: 'catalogue', description: 'All bouquets', as: 'document', file: 'https://a.example/a.pdf' }] as const;
  const given = question({ tools: ['setLeadField', 'addLabel', 'handOver', 'sendMedia'], media });
  const wanted = await ask({ calls: [{ name: 'send_media', arguments: '{"name":"catalogue"}' }] }, given);
  assert.ok(wanted.ok);
  assert.deepEqual(
    server.asked.at(-1)?.tools?.map(({ function: { name } }) => name),
    ['set_lead_field', 'add_label', 'hand_over', 'send_media'],
  );
  const [wish] = wanted.wishes;
  assert.ok(wish);
  assert.deepEqual(models.toolCall(given, wish), { ok: true, value: { tool: 'sendMedia', media: media[0], caption: '' } });
  const dialogue = [
    ...given.dialogue,
    { by: 'assistant', text: '', wishes: wanted.wishes } as const,
    { by: 'tool', wish: wish.id, text: 'sent' } as const,
  ];
  assert.ok((await ask({ text: 'Here it is' }, { ...given, dialogue })).ok);
});

test('models: tools without a purpose for the agent are not offered', async () => {
  await ask({ text: '' }, question({ tools: ['addLabel', 'sendMedia'] }, { labels: [] }));
  assert.equal(server.asked.at(-1)?.tools, undefined);
});

const badCalls: readonly (readonly [name: string, given: string, error: string | RegExp])[] = [
  ['send_media', '{"name":"catalogue"}', 'there is no tool send_media'],
  ['rm', '{}', 'there is no tool rm'],
  ['set_lead_field', '{"field":"lead_name"', 'the arguments are not valid JSON'],
  ['set_lead_field', '', /field|value/],
  ['set_lead_field', '{"field":"chatbot_disableUntil","value":"1"}', /^field /],
  ['set_lead_field', '{"field":"lead_name","value":7}', /^value /],
  ['set_lead_field', '{"field":"lead_name","value":"Ana","more":1}', 'more is not known'],
  ['set_lead_field', '[]', /arguments/],
  ['add_label', '{"label":"other"}', /^label /],
];
for (const [name, given, error] of badCalls)
  test(`models: the call of a tool is refused: ${name} ${given}`, () => {
    const call = models.toolCall(question({ tools: ['setLeadField', 'addLabel'] }), { id: '1', name, arguments: given });
    assert.ok(!call.ok && call.refusal.reason === 'invalid');
    if (typeof error === 'string') assert.equal(call.refusal.message, error);
    else assert.match(call.refusal.message, error);
  });

const failures: readonly (readonly [title: string, script: Script, error: string, cause: string, retryAfter?: number])[] = [
  ['401', { status: 401 }, 'the service does not take the key', 'setup'],
  ['404', { status: 404 }, 'the service knows no such model or address', 'setup'],
  ['400', { status: 400 }, 'the service refused the question (400)', 'question'],
  [
    '429',
    { status: 429, headers: { 'retry-after': '7' } },
    'the service is asked too often with this key, or its credit is used up',
    'busy',
    7,
  ],
  ['503', { status: 503 }, 'the service answered 503', 'busy'],
  ['an answer that is no JSON', { raw: '<html>' }, 'the answer of the service makes no sense', 'busy'],
  ['an answer that is null', { raw: 'null' }, 'the answer of the service makes no sense', 'busy'],
  ['an answer without a choice', { raw: '{"choices":[]}' }, 'the service gave no answer', 'busy'],
];
for (const [title, script, error, cause, retryAfter] of failures)
  test(`models: ${title} is a failure with a sentence of the gateway`, async () => {
    const answer = await ask(script);
    assert.deepEqual(answer, { ok: false, error, cause, ...(retryAfter === undefined ? {} : { retryAfter }) });
  });

test('models: a reply without JSON, a redirection and an unreachable service are failures that may pass', async () => {
  const answers = [
    await ask({ raw: '<html>' }),
    await ask({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
    await ask({}, question({ baseUrl: 'http://127.0.0.1:1/v1' })),
  ];
  for (const answer of answers)
    assert.ok(!answer.ok && answer.cause === 'busy' && !answer.error.includes('127.0.0.1'), JSON.stringify(answer));
});

test('models: headers of the environment are sent to no service', async () => {
  process.env['OPENAI_CUSTOM_HEADERS'] = 'x-secret: of the operator';
  try {
    assert.ok((await ask({ text: 'Hello!' })).ok);
    assert.deepEqual(server.objections, []);
  } finally {
    delete process.env['OPENAI_CUSTOM_HEADERS'];
  }
});

const odd: readonly (readonly [title: string, message: object, text: string, wishes: number])[] = [
  ['a text in parts', { content: [{ type: 'text', text: 'Hel' }, { type: 'text', text: 'lo' }, null] }, 'Hello', 0],
  ['no text', { content: null }, '', 0],
  [
    'a call without an id, whose arguments are an object',
    { content: '', tool_calls: [{ function: { name: 'hand_over', arguments: { reason: 'x' } } }] },
    '',
    1,
  ],
];
for (const [title, message, text, wishes] of odd)
  test(`models: services differ: ${title}`, async () => {
    const answer = await ask({ raw: JSON.stringify({ choices: [{ message }], usage: null }) });
    assert.ok(answer.ok);
    assert.deepEqual([answer.text, answer.wishes.length, answer.tokens > 0], [text, wishes, true]);
    for (const wish of answer.wishes) assert.deepEqual([wish.id, wish.arguments], ['call_0', '{"reason":"x"}']);
  });

test('models: a cancelled question ends soon, also at the service', async () => {
  const controller = new AbortController();
  const before = server.abandoned;
  const answer = ask({ delay: 60_000 }, question(), controller.signal);
  await server.waitFor(server.asked.length + 1);
  controller.abort();
  assert.equal((await answer).ok, false);
  await until(() => server.abandoned === before + 1, 'the service sees it');
});

test('models: private addresses are refused when they are saved and when they are used', async () => {
  const strict = new OpenAiModels({ ...options, guard: new AddressGuard({ allow: [] }) });
  const refused = 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS';
  assert.equal(strict.objection(question().agent), `baseUrl cannot be used: ${refused}`);
  assert.deepEqual(await strict.ask(question(), never), { ok: false, error: `the service cannot be used: ${refused}`, cause: 'setup' });
  await strict.close();
});

test('models: a self-hosted service may work without a key', async () => {
  const open = await openModelServer('');
  assert.ok((await models.ask(question({ baseUrl: open.url }, { key: '' }), never)).ok);
  assert.deepEqual(open.objections, []);
  await open.close();
});

const completion = (message: object, usage: object | null = null): Script => ({
  raw: JSON.stringify({
    choices: [{ index: 0, finish_reason: 'stop', logprobs: { big: 1 }, message: { role: 'assistant', ...message, audio: 'x' } }],
    usage,
  }),
});

test('models: the stored answer has only the fields of the protocol, no key, and texts that can be stored', async () => {
  const call = { id: key, type: 'function', more: 1, function: { name: 'hand_over', arguments: `{"reason":"${key}"}`, more: 1 } };
  const answer = await ask(completion({ content: `a\0b\ud800 ${key}`, reasoning: 'long', tool_calls: [call] }));
  assert.ok(answer.ok);
  assert.deepEqual(
    [answer.text, answer.wishes],
    ['ab\ufffd ********', [{ id: '********', name: 'hand_over', arguments: '{"reason":"********"}' }]],
  );
  const told = { id: '********', type: 'function', function: { name: 'hand_over', arguments: '{"reason":"********"}' } };
  assert.deepEqual(answer.choices, [
    { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'ab\ufffd ********', tool_calls: [told] } },
  ]);
});

for (const [told, tokens] of [
  [7.2, 8],
  [-5, null],
  ['12', null],
  [1e300, null],
] as const)
  test(`models: ${JSON.stringify(told)} tokens are ${tokens ?? 'estimated'}`, async () => {
    const answer = await ask(completion({ content: 'hi' }, { total_tokens: told }));
    assert.ok(answer.ok && Number.isSafeInteger(answer.tokens) && answer.tokens > 0 && answer.tokens < 1_000);
    if (tokens !== null) assert.equal(answer.tokens, tokens);
  });

test('models: a long answer is cut, an oversized one is a failure, and calls of tools are limited', async () => {
  const cut = await ask(completion({ content: 'x'.repeat(200_000) }));
  assert.ok(cut.ok && cut.text.length === 65_536 && cut.text.endsWith('x…'));
  const large = await ask(completion({ content: 'x'.repeat(1_100_000) }));
  assert.deepEqual(large, { ok: false, error: 'the answer of the service is larger than 1 MiB', cause: 'question' });
  const calls = Array.from({ length: 5_000 }, () => ({ function: { name: 'n'.repeat(10), arguments: '{}' } }));
  const busy = await ask(completion({ content: '', tool_calls: calls }));
  assert.ok(busy.ok && busy.wishes.length <= 101, busy.ok ? `${busy.wishes.length}` : busy.error);
});

const ends: readonly (readonly [title: string, text: string, length: boolean, cut: string])[] = [
  ['the longest text', `${'One sentence. '.repeat(5_000)}And half of`, false, 'One sentence. '.repeat(4_681).trimEnd()],
  ['the tokens of the service', 'We open at nine. We close at', true, 'We open at nine.'],
  ['the tokens of the service within its first sentence', 'We open at', true, 'We open at'],
  ['nothing', 'We open at nine. We close at', false, 'We open at nine. We close at'],
];
for (const [title, text, isLength, cut] of ends)
  test(`models: an answer over ${title} ends with a whole sentence where it has one`, async () => {
    const choice = { index: 0, finish_reason: isLength ? 'length' : 'stop', message: { role: 'assistant', content: text } };
    const answer = await ask({ raw: JSON.stringify({ choices: [choice] }) });
    assert.ok(answer.ok);
    assert.equal(answer.text, cut);
    assert.equal((answer.choices[0] as { message: { content: string } }).message.content, cut);
  });

const chunk = (delta: object, more: object = {}): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
const part = (index: number, call: object): object => ({ tool_calls: [{ index, ...call }] });
const streamed = [
  ': hello\n\n',
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Good ' }),
  chunk({ content: 'morning' }),
  chunk(part(0, { id: 'a', function: { name: 'hand_over', arguments: '{"rea' } })),
  chunk(part(0, { function: { arguments: 'son":"x"}' } }), { finish_reason: 'tool_calls' }),
  `data: ${JSON.stringify({ choices: [], usage: { total_tokens: 9 } })}\n\n`,
  'data: [DONE]\n\n',
].join('');
const asStream = { raw: streamed, headers: { 'content-type': 'text/event-stream' } };
const whole = ['Good morning', [{ id: 'a', name: 'hand_over', arguments: '{"reason":"x"}' }], 9];

test('models: the reply of a service that streams unasked is read', async () => {
  const answer = await ask(asStream);
  assert.ok(answer.ok);
  assert.deepEqual([answer.text, answer.wishes, answer.tokens], whole);
});

test('models: a service that answers only with `stream: true` is asked so, from the second time on at once', async () => {
  server.answer = ({ stream }) =>
    stream === true ? asStream : { status: 400, raw: '{"error":{"message":"This model only supports streaming responses"}}' };
  const given = question({ model: 'streams-only' });
  const before = server.asked.length;
  for (const asked of [2, 3]) {
    const answer = await models.ask(given, never);
    assert.ok(answer.ok);
    assert.deepEqual([answer.text, answer.wishes, answer.tokens], whole);
    assert.equal(server.asked.length - before, asked);
  }
  const { request } = (await models.ask(given, never)) as ModelAnswer & { ok: true };
  assert.ok(!('stream' in request));
});

test('models: a stream without an answer, or with invalid content, is a failure', async () => {
  const headers = { 'content-type': 'text/event-stream' };
  assert.deepEqual(await ask({ raw: 'data: [DONE]\n\n', headers }), { ok: false, error: 'the service gave no answer', cause: 'busy' });
  assert.deepEqual(await ask({ raw: 'data: {nonsense\n\n', headers }), {
    ok: false,
    error: 'the answer of the service makes no sense',
    cause: 'busy',
  });
});
