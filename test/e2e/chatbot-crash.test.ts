/** Kills the gateway while a question is gathered, answered and stored. The question is answered at most once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account, MessageSeen } from '#test/support/account.ts';
import { type ModelServer, openModelServer } from '#test/support/model-server.ts';
import { randomOf } from '#test/support/random.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

let server: ModelServer;
let scene: Scene;
let account: Account;

before(async () => {
  server = await openModelServer('');
  scene = await Scene.open({ CHATBOT_PAUSE_MS: '300', CHATBOT_LONGEST_PAUSE_MS: '1000' });
  account = await scene.paired();
  const agent = { name: 'Ada', provider: 'custom', baseUrl: server.url, model: 'small', contextMaxMessages: 2 };
  const { body } = await account.call('POST', '/agent/edit', { agent });
  await account.call('POST', '/trigger/edit', { trigger: { type: 'agent', agent_id: body['id'] } });
  assert.equal((await account.call('POST', '/instance/updatechatbotsettings', { chatbot_enabled: true })).status, 200);
});
after(async () => {
  assert.deepEqual(server.objections, []);
  await scene.close();
  await server.close();
});

const write = (text: string) => scene.platform.sandbox.send(contact, account.number, { kind: 'text', text });
const answers = (to: string): number => scene.platform.sandbox.received(contact).filter(({ text }) => text === `Answer to ${to}`).length;

/** Makes the model answer with the last question. */
const repeat = (delay: number) => {
  server.answer = ({ messages }) => ({ text: `Answer to ${messages.at(-1)?.content.split('\n').at(-1)}`, delay });
};

const killed = async (): Promise<void> => {
  await scene.gateway.end('SIGKILL');
  await scene.gateway.start();
  await account.reaches('connected');
};

test('chatbot: a question whose answer a kill interrupted is answered once after the start', async () => {
  repeat(60_000);
  await write('What do tulips cost?');
  await server.waitFor(1);
  repeat(0);
  await killed();
  await until(() => answers('What do tulips cost?') === 1, 'the contact has the answer');
  await wait(1_500);
  assert.deepEqual([answers('What do tulips cost?'), server.asked.length], [1, 2]);
});

/** Returns true if the stored answer was under way at a kill. Such an answer is not repeated, because it may have left. */
const isInDoubt = async (to: string): Promise<boolean> => {
  const stored = (await account.messages(contact)) as readonly (MessageSeen & { readonly error: string })[];
  return stored.some(({ text, status, error }) => text === `Answer to ${to}` && status === 'Failed' && error.startsWith('interrupted'));
};
const isSettled = async (question: string): Promise<boolean> => answers(question) > 0 || (await isInDoubt(question));

test('chatbot: kills at any moment, and starts after them, cause no second answer', async (t) => {
  const random = randomOf(7);
  const questions = Array.from({ length: 5 }, (_, n) => `Question ${n}`);
  repeat(150);
  for (const question of questions) {
    await write(question);
    await wait(200 + random() * 800);
    await killed();
    // Texts that arrive together are one question, so the next text is sent later.
    await until(() => isSettled(question), `the contact has the answer to ${question}, or it is stored as in doubt`);
  }
  await killed();
  await write('The last one');
  await until(() => answers('The last one') === 1, 'the contact has the answer to the last one');
  await wait(1_500);
  const counts = questions.map(answers);
  t.diagnostic(`answers: ${counts.join(' ')}`);
  assert.ok(
    counts.every((count) => count <= 1),
    `answers: ${counts.join(' ')}`,
  );
});
