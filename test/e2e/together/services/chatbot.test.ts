/** Tests the chatbot from the phone of a contact to the model and back, on the simulated platform. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import type { Account } from '#test/support/account.ts';
import { type ModelServer, openModelServer } from '#test/support/model-server.ts';
import type { Json } from '#test/support/operation-rows.ts';
import type { Posted } from '#test/support/receivers.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

const key = 'sk-verysecret0123456789';
const chatId = `${contact}@s.whatsapp.net`;
let server: ModelServer;
let scene: Scene;
let account: Account;

const call = async (path: string, body: Json): Promise<Json> => {
  const answered = await account.call('POST', path, body);
  assert.ok(answered.status < 300, JSON.stringify(answered.body));
  return answered.body;
};

let agentId = '';
const agent = () => ({
  name: 'Ada',
  provider: 'custom',
  baseUrl: server.url,
  model: 'small',
  apikey: key,
  basePrompt: 'You sell flowers.',
});

before(async () => {
  server = await openModelServer(key);
  scene = await Scene.open({ CHATBOT_PAUSE_MS: '1500', CHATBOT_LONGEST_PAUSE_MS: '10000' });
  account = await scene.paired();
  agentId = String((await call('/agent/edit', { agent: agent() }))['id']);
  await call('/trigger/edit', { trigger: { type: 'agent', agent_id: agentId } });
  await call('/webhook', { url: scene.receiver.url, enabled: true, events: ['messages', 'chats'] });
  const settings = { chatbot_enabled: true, chatbot_stopConversation: 'stop', chatbot_stopMinutes: 5, chatbot_stopWhenYouSendMsg: 5 };
  await call('/instance/updatechatbotsettings', settings);
});
after(async () => {
  assert.deepEqual(server.objections, []);
  await scene.close();
  await server.close();
});

const write = (text: string, from = contact) => scene.platform.sandbox.send(from, account.number, { kind: 'text', text });
const received = (): readonly string[] => scene.platform.sandbox.received(contact).map(({ text }) => text ?? '');
const arrives = (text: string) => until(() => received().includes(text), `the contact reads: ${text}; it read ${received().join(' | ')}`);
const chat = async (): Promise<Json> => (await call('/chat/find', { wa_chatid: chatId }))['chats'] as unknown as Json;

test('chatbot: a burst of texts becomes one question to the model, and the contact gets one answer', async () => {
  server.answer = () => ({ text: 'We open at nine.' });
  // Both texts reach the gateway at once, even if the test is slow.
  scene.gateway.signal('SIGSTOP');
  await write('Hello');
  await write('When do you open?');
  scene.gateway.signal('SIGCONT');
  await arrives('We open at nine.');
  assert.deepEqual(
    server.asked.at(-1)?.messages.map(({ role, content }) => `${role}: ${content}`),
    ['system: You sell flowers.', 'user: Hello\nWhen do you open?'],
  );
  const { body } = await account.call('POST', '/message/find', { chatid: chatId, limit: 1 });
  const [sent] = body['messages'] as readonly Json[];
  assert.deepEqual([sent?.['sendFunction'], sent?.['wasSentByApi'], sent?.['text']], ['chatbot', true, 'We open at nine.']);
  const metadata = sent?.['ai_metadata'] as { agent_id: string; request: Json; response: { choices: readonly Json[] } };
  assert.deepEqual(
    [metadata.agent_id, metadata.request['options'], metadata.response.choices.length],
    [agentId, { model: 'small', maxTokens: 2048 }, 1],
  );
});

test('chatbot: a trial is answered by the model, and nothing of it reaches the contact, the chat or the messages', async () => {
  server.answer = () => ({ text: 'On trial we open at ten.' });
  // Receipts of the last answer may still arrive, so its status is left out.
  const find = async () => {
    const { body } = await account.call('POST', '/message/find', { chatid: chatId, limit: 100 });
    return (body['messages'] as readonly Json[]).map(({ messageid, text }) => [messageid, text]);
  };
  const [before, used] = [await find(), (await account.call('GET', '/agent/usage')).body['days'] as readonly Json[]];
  const messages = [{ role: 'user', text: 'When do you open?' }];
  const tried = await call('/agent/try', { agent_id: agentId, messages });
  assert.deepEqual(tried, { ok: true, text: 'On trial we open at ten.', tokens: 15, tools: [] });
  assert.deepEqual(await find(), before);
  assert.ok(!received().includes('On trial we open at ten.'));
  const days = (await account.call('GET', '/agent/usage')).body['days'] as readonly Json[];
  assert.equal(Number(days[0]?.['tokens']) - Number(used[0]?.['tokens']), 15);
  const refused = async (body: Json) => (await account.call('POST', '/agent/try', body)).status;
  const answered = [...messages, { role: 'assistant', text: 'At nine.' }];
  assert.deepEqual(
    [
      await refused({ agent_id: 'r0', messages }),
      await refused({ agent_id: agentId, messages: answered }),
      await refused({ agent_id: agentId, messages: [] }),
    ],
    [404, 400, 400],
  );
});

test('chatbot: the agent remembers the conversation, sets a field of the lead, sends a file, and hands over to a person', async () => {
  const media = [{ name: 'card', description: 'Our card', type: 'image', file: 'http://127.0.0.1:1/none.png' }];
  await call('/agent/edit', { id: agentId, agent: { tools: ['setLeadField', 'handOver', 'sendMedia'], media } });
  server.answer = ({ messages }) => {
    const results = messages.filter(({ role }) => role === 'tool');
    if (results.length === 0)
      return {
        calls: [
          { name: 'set_lead_field', arguments: '{"field":"lead_name","value":"Ana"}' },
          { name: 'send_media', arguments: '{"name":"card"}' },
          { name: 'hand_over', arguments: '{"reason":"she asks for a person"}' },
          { name: 'set_lead_field', arguments: '{"field":"lead_color","value":"red"}' },
        ],
      };
    return { text: `A person answers soon. (${results.map(({ content }) => content.slice(0, 8)).join(', ')})` };
  };
  await write('I am Ana, a person please');
  await arrives('A person answers soon. (done, not done, done: a , not done)');
  const [found] = (await chat()) as unknown as readonly Json[];
  assert.deepEqual([found?.['lead_name'], found?.['lead_isTicketOpen']], ['Ana', true]);
  assert.ok(Number(found?.['chatbot_disableUntil']) > Date.now() / 1000 + 3_000);
  const isHandOver = ({ body }: Posted): boolean => body['EventType'] === 'chats' && (body['chat'] as Json)['lead_isTicketOpen'] === true;
  await scene.receiver.wait(isHandOver, 'the hand-over has its event');
  const { length } = server.asked;
  await write('Hello?');
  await until(async () => ((await account.messages(contact))[0]?.text ?? '') === 'Hello?', 'the text is stored');
  assert.equal(server.asked.length, length, 'nobody is asked while a person answers');
  await call('/chat/editLead', { id: chatId, chatbot_disableUntil: 0 });
  server.answer = () => ({ text: 'I am back.' });
  await write('And now?');
  await arrives('I am back.');
  assert.equal(server.asked.length, length + 1, 'nobody was asked while a person answered');
  const dialogue = server.asked.at(-1)?.messages.map(({ content }) => content) ?? [];
  assert.ok(dialogue.includes('We open at nine.') && dialogue.at(-1)?.endsWith('And now?'), JSON.stringify(dialogue));
});

test('chatbot: a file from the list of the agent is fetched and reaches the contact', async () => {
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const files = createServer((_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(png));
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  const file = `http://127.0.0.1:${(files.address() as AddressInfo).port}/card.png`;
  await call('/agent/edit', { id: agentId, agent: { tools: ['sendMedia'], media: [{ name: 'card', type: 'image', file }] } });
  server.answer = ({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { text: `It is ${messages.at(-1)?.content}.` }
      : { calls: [{ name: 'send_media', arguments: '{"name":"card","caption":"Our card"}' }] };
  await write('Your card, please');
  await arrives('It is sent.');
  assert.ok(received().includes('Our card'), received().join(' | '));
  files.close();
});

test('chatbot: the contact sees typing while the model generates the answer', async () => {
  const sandbox = scene.platform.sandbox;
  const states: string[] = [];
  const unsubscribe = sandbox.subscribe((event) => void (event.type === 'presence' && states.push(event.state)));
  server.answer = () => ({ text: 'Thought about it.', delay: 700 });
  await write('Think!');
  await arrives('Thought about it.');
  unsubscribe();
  assert.ok(states.includes('composing'), JSON.stringify(states));
});

test('chatbot: the key of the model is in no answer, event or log line', async () => {
  server.answer = () => ({ status: 401 });
  await write('Does it work?');
  await until(() => scene.gateway.printed.includes('chatbot.notAnswered'), 'the failure is logged');
  const answers = await Promise.all([
    account.call('GET', '/agent/list'),
    account.call('GET', '/instance/status'),
    account.call('POST', '/message/find', { chatid: chatId }),
  ]);
  const everything =
    JSON.stringify([answers.map(({ body }) => body), scene.receiver.posted.map(({ body }) => body)]) + scene.gateway.printed;
  assert.ok(!everything.includes(key.slice(0, 12)));
});
