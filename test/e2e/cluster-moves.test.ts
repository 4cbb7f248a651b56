/** Tests work that continues when a session moves to another node or is changed through another node: conversations, campaigns, agents in Chatwoot. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from '#test/support/account.ts';
import { ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { type ModelServer, openModelServer } from '#test/support/model-server.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { contact } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

type Json = Readonly<Record<string, unknown>>;

/** The time-out of waits, in milliseconds. The machine may be busy with other tests. */
const patience = 120_000;

let nats: NatsServer;
let nodes: Nodes;
let second: GatewayProcess;
let model: ModelServer;
let desk: ChatwootStandIn;
let account: Account;
before(async () => {
  if (withNats.skip !== undefined) return;
  [nats, model, desk] = await Promise.all([NatsServer.open(), openModelServer(''), ChatwootStandIn.open()]);
  const quick = { CHATBOT_PAUSE_MS: '300', CHATBOT_LONGEST_PAUSE_MS: '1000', LOOKUP_EVERY_MS: '1', LOOKUPS_AT_ONCE: '10000' };
  nodes = await Nodes.open({ NATS_URL: nats.url, CAMPAIGN_DAILY_CAP: '0', ...quick });
  second = await nodes.another('second').start();
  account = await nodes.scene.paired();
});
after(async () => {
  await nodes?.close();
  await Promise.all([nats?.stop(), model?.close(), desk?.close()]);
});

const nameOf = (node: GatewayProcess): string => (node === second ? 'second' : 'first');

/** Returns the owner of the session, the other node, and the account through each of them. The session stays until it is moved. */
const placed = async () => {
  const [name] = await nodes.settled([account]);
  const [owner, other] = name === 'second' ? [second, nodes.first] : [nodes.first, second];
  return { owner, other, own: nodes.at(owner, account), through: nodes.at(other, account) };
};

/** Waits until all nodes know each other again. */
const together = (): Promise<unknown> =>
  until(
    async () => {
      const lists = await Promise.all([nodes.first, second].map((node) => node.call('GET', '/admin/nodes')));
      const seen = lists.map(({ body }) => body as unknown as readonly { readonly state: string }[]);
      return seen.every((list) => list.length === 2 && list.every(({ state }) => state === 'live'));
    },
    'both nodes are live',
    patience,
  );

/** Stops the owner in order and restarts it. The session is on the other node afterwards. */
const moved = async (): Promise<void> => {
  const { owner, other, through } = await placed();
  const ending = owner.end('SIGTERM');
  await nodes.ownedBy(nameOf(other), [account], patience);
  await through.reaches('connected', patience);
  assert.equal(await ending, 0, owner.printed);
  await owner.start();
  await together();
};

const received = (number: string, sign: string): readonly string[] =>
  nodes.scene.platform.sandbox.received(number).flatMap(({ text }) => (text.startsWith(sign) ? [text] : []));

const ask = (text: string) => nodes.scene.platform.sandbox.send(contact, account.number, { kind: 'text', text });
const answered = (question: string, ms = patience): Promise<unknown> =>
  until(() => received(contact, `Answer to ${question}`).length > 0, `the answer to ${question}`, ms);
const onlyOnce = async (question: string): Promise<void> => {
  await wait(1_500);
  assert.equal(received(contact, `Answer to ${question}`).length, 1);
};

/** Makes the model answer with the last question. */
const repeat = (delay: number): void => {
  model.answer = ({ messages }) => ({ text: `Answer to ${messages.at(-1)?.content.split('\n').at(-1)}`, delay });
};

let agentId = '';

test('moves: the chatbot is set up through a node that does not own the session', withNats, async () => {
  const { through } = await placed();
  repeat(0);
  const agent = {
    name: 'Ada',
    provider: 'custom',
    baseUrl: model.url,
    model: 'small',
    contextMaxMessages: 2,
    basePrompt: 'You sell tulips',
  };
  const { body } = await through.call('POST', '/agent/edit', { agent });
  agentId = String(body['id']);
  await through.call('POST', '/trigger/edit', { trigger: { type: 'agent', agent_id: agentId } });
  assert.equal((await through.call('POST', '/instance/updatechatbotsettings', { chatbot_enabled: true })).status, 200);
  await ask('What do tulips cost?');
  await answered('What do tulips cost?');
  const edited = await through.call('POST', '/agent/edit', { id: agentId, agent: { basePrompt: 'You sell asters' } });
  assert.equal(edited.status, 200, JSON.stringify(edited.body));
  await ask('And asters?');
  await answered('And asters?');
  assert.match(String(model.asked.at(-1)?.messages[0]?.content), /You sell asters/);
});

test('moves: a question under way when its session moves is answered once, by the next owner', withNats, async () => {
  repeat(60_000);
  const asked = model.asked.length;
  await ask('Are there roses?');
  await model.waitFor(asked + 1);
  repeat(0);
  await moved();
  await answered('Are there roses?');
  await onlyOnce('Are there roses?');
  assert.equal(model.asked.length, asked + 2);
});

test('moves: a node that gets a session back knows the changes in between', withNats, async () => {
  const { owner, other, through } = await placed();
  await ask('Who remembers this?');
  await answered('Who remembers this?');
  owner.signal('SIGSTOP');
  await nodes.ownedBy(nameOf(other), [account], patience);
  await through.reaches('connected', patience);
  const edited = await through.call('POST', '/agent/edit', { id: agentId, agent: { basePrompt: 'You sell lilies' } });
  assert.equal(edited.status, 200, JSON.stringify(edited.body));
  owner.signal('SIGCONT');
  await until(() => owner.printed.includes('node.lost'), 'the former owner knows that it is none', patience);
  await together();
  // The session returns to the process that had it, which has not been restarted.
  assert.equal((await placed()).owner, owner);
  await ask('And lilies?');
  await answered('And lilies?');
  assert.match(String(model.asked.at(-1)?.messages[0]?.content), /You sell lilies/);
});

const folderOf = async (asked: Account, id: string): Promise<Json> => {
  const { body } = await asked.call('GET', '/sender/listfolders');
  return (body as unknown as readonly Json[]).find((folder) => folder['id'] === id) ?? {};
};

const campaign = async (
  asked: Account,
  sign: string,
  count: number,
  more: object,
): Promise<{ readonly id: string; readonly numbers: readonly string[] }> => {
  const numbers = Array.from({ length: count }, (_, at) => `55116${String(at).padStart(8, '0')}`);
  const messages = numbers.map((number) => ({ number, type: 'text', text: `${sign} for ${number}` }));
  const made = await asked.call('POST', '/sender/advanced', { delayMin: 0, delayMax: 0, ...more, messages });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return { id: String(made.body['folder_id']), numbers };
};

const isDone = (asked: Account, id: string): Promise<Json> =>
  until(
    async () => {
      const folder = await folderOf(asked, id);
      return folder['status'] === 'done' && folder;
    },
    'the campaign ends',
    patience,
  );

const everybodyOnce = (numbers: readonly string[], sign: string): void =>
  assert.deepEqual(
    numbers.filter((number) => received(number, sign).length !== 1),
    [],
  );

test('moves: a campaign continues when its session moves, and each recipient gets the message once', withNats, async () => {
  const { through } = await placed();
  const { id, numbers } = await campaign(through, 'moving', 150, {});
  await until(async () => Number((await folderOf(through, id))['log_sucess']) > 20, 'it is under way', patience);
  await moved();
  const folder = await isDone(account, id);
  assert.deepEqual([folder['log_sucess'], folder['log_unknown'], folder['log_failed']], [150, 0, 0]);
  everybodyOnce(numbers, 'moving');
});

test('moves: a campaign is stopped and continued through a node that does not own it', withNats, async () => {
  const { through } = await placed();
  // Enough that it is not over before a slow test stops it.
  const { id, numbers } = await campaign(through, 'edited', 10, { delayMin: 1, delayMax: 1 });
  const sent = (): number => numbers.filter((number) => received(number, 'edited').length > 0).length;
  await until(() => sent() >= 1, 'the first one has it', patience);
  const edit = (action: string) => through.call('POST', '/sender/edit', { folder_id: id, action });
  assert.equal((await edit('stop')).status, 200);
  const atStop = await until(async () => (await folderOf(through, id))['status'] === 'paused' && sent() + 1, 'it is paused', patience);
  await wait(2_500);
  assert.ok(sent() <= atStop, 'a message that is being sent is the last one');
  assert.equal((await edit('continue')).status, 200);
  await isDone(through, id);
  everybodyOnce(numbers, 'edited');
});

test('moves: a sleeping session whose owner died is woken by one node when its campaign begins', withNats, async () => {
  const { owner, other, own, through } = await placed();
  assert.equal((await own.call('POST', '/instance/hibernate')).status, 200);
  await own.reaches('hibernated', patience);
  const { id, numbers } = await campaign(own, 'asleep', 3, { scheduled_for: Date.now() + 20_000 });
  const before = [nodes.scene.logins(account), nodes.doubleLogins];
  await owner.end('SIGKILL');
  await isDone(through, id);
  everybodyOnce(numbers, 'asleep');
  assert.deepEqual([nodes.scene.logins(account) - before[0]!, nodes.doubleLogins - before[1]!], [1, 0]);
  assert.deepEqual(await nodes.owners([account]), [nameOf(other)]);
  await owner.start();
  await together();
});

const conversation = (): number => desk.world.messages.find(({ type }) => type === 'incoming')?.conversationId ?? 0;

test(
  'moves: Chatwoot is connected through a node that does not own the session, and its posts may arrive at any node',
  withNats,
  async () => {
    const { owner, other, own, through } = await placed();
    assert.equal((await own.call('POST', '/instance/updatechatbotsettings', { chatbot_enabled: false })).status, 200);
    const { status, body } = await through.call('PUT', '/chatwoot/config', { ...desk.settings });
    assert.equal(status, 200, JSON.stringify(body));
    const { pathname } = new URL(String(body['chatwoot_inbox_webhook_url']));
    await ask('hello desk');
    await until(() => desk.texts().includes('hello desk'), 'the inbox has it', patience);
    for (const node of [other, owner]) {
      desk.hookUrl = node.address + pathname;
      const text = `agent through ${nameOf(node)}`;
      const written = desk.write(conversation(), text);
      await until(() => received(contact, text).length === 1, `the contact has what the ${nameOf(node)} node got`, patience);
      await desk.told();
      assert.equal(desk.hooked.find((one) => one.id === written.id)?.status, 200);
    }
    desk.hookUrl = other.address + pathname;
    owner.signal('SIGSTOP');
    try {
      const body = { event: 'message_updated', id: 1, message_type: 'outgoing', private: false };
      const posted = await other.call('POST', pathname, { body });
      assert.deepEqual([posted.status, posted.body], [200, { message: 'accepted' }], 'what is no news waits for no owner');
    } finally {
      owner.signal('SIGCONT');
    }
  },
);

test(
  'moves: messages that agents write while the session moves arrive once and in order, and none is shown as failed',
  withNats,
  async () => {
    const before = nodes.doubleLogins;
    const texts = Array.from({ length: 12 }, (_, at) => `moved agent ${at}`);
    const write = async (text: string): Promise<void> => {
      desk.write(conversation(), text);
      await desk.told();
    };
    for (const text of texts.slice(0, 6)) await write(text);
    await moved();
    const { other } = await placed();
    desk.hookUrl = other.address + new URL(desk.hookUrl).pathname;
    for (const text of texts.slice(6)) await write(text);
    await until(
      () => new Set(received(contact, 'moved agent')).size === texts.length,
      () => `all come; there are ${received(contact, 'moved agent').join(', ')}`,
      patience,
    );
    assert.deepEqual(received(contact, 'moved agent'), texts);
    assert.deepEqual(
      desk.world.messages.filter(({ status }) => status === 'failed').map(({ content, error }) => `${content}: ${error}`),
      [],
    );
    assert.equal(nodes.doubleLogins, before);
    for (const { printed } of [nodes.first, second]) assert.doesNotMatch(printed, /unhandledRejection|rashed|urprised/);
  },
);
