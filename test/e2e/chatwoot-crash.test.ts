/** Tests kills, lost answers and failures of a Chatwoot server. Each message arrives once and in order, and other receivers are not delayed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { accessToken, ChatwootStandIn } from '#test/support/chatwoot/stand-in.ts';
import { contact, Scene } from '#test/support/scene.ts';
import { until } from '#test/support/until.ts';

// Longer than a gateway takes to start on a busy machine, and what a test waits for before a message fails.
const scene = await Scene.open({ CHATWOOT_REPLY_WAIT_MS: '30000' });
const desk = await ChatwootStandIn.open();
after(async () => {
  await scene.close();
  await desk.close();
});
const account = await scene.paired();
const others = ['5511988880002', '5511988880003'];
/** The output of the gateway in all of its runs. */
let printed = '';

const connect = (more: object = {}): Promise<void> => desk.connect(account, more);
const restart = async (): Promise<void> => {
  const { pathname } = new URL(desk.hookUrl);
  await scene.gateway.end('SIGKILL');
  printed += scene.gateway.printed;
  await scene.gateway.start();
  desk.hookUrl = scene.gateway.address + pathname;
};
const say = (from: string, text: string) => scene.platform.sandbox.send(from, account.number, { kind: 'text', text });
const incoming = (sign: string): readonly string[] => desk.texts().filter((text) => text.startsWith(sign));
const arrive = (sign: string, count: number) =>
  until(
    () => new Set(incoming(sign)).size >= count,
    () => `${count} messages ${sign}; there are ${incoming(sign).length}`,
    120_000,
  );
const conversation = (): number => desk.world.messages.find(({ type }) => type === 'incoming')?.conversationId ?? 0;
const numbered = (sign: string, count: number): readonly string[] => Array.from({ length: count }, (_, at) => `${sign} ${at}`);

await connect();

test('lost answers: an object that Chatwoot created is found, so that there is one contact, one conversation and one message', async () => {
  for (const [at, lost] of [/^POST \/contacts$/, /^POST \/conversations$/, /^POST \/conversations\/\d+\/messages$/].entries()) {
    let once = true;
    desk.loses = (request) => once && lost.test(request) && !(once = false);
    await say(contact, `lost ${at}`);
    await arrive(`lost ${at}`, 1);
    await until(() => !once, `an answer of ${lost} is lost`);
    if (at < 2) {
      desk.loses = null;
      desk.world.removeContact([...desk.world.contacts.keys()][0] ?? 0);
    }
  }
  desk.loses = null;
  await say(contact, 'lost and found');
  await arrive('lost and', 1);
  assert.deepEqual([desk.world.contacts.size, desk.world.conversations.size], [1, 1]);
  assert.equal(incoming('lost 2').length, 1);
});

test('a lost answer: the message is found behind many newer ones of its conversation', async () => {
  let isLost = false;
  desk.loses = (request) => {
    if (isLost || !/^POST .*messages$/.test(request)) return false;
    isLost = true;
    const talk = conversation();
    for (const text of numbered('meanwhile', 45)) desk.world.addMessage(talk, { content: text, type: 'outgoing', private: true });
    return true;
  };
  await say(contact, 'buried');
  await arrive('buried', 1);
  await until(() => isLost, 'an answer is lost');
  desk.loses = null;
  await say(contact, 'after buried');
  await arrive('after buried', 1);
  assert.equal(incoming('buried').length, 1);
});

test('kills in the middle: every message of the phone arrives once, in order', async () => {
  const people = [contact, ...others];
  for (const person of people) await say(person, `begin ${person}`);
  await arrive('begin', people.length);
  desk.delayMs = 15;
  for (const round of [0, 1, 2]) {
    for (const text of numbered(`round ${round}`, 8)) for (const person of people) await say(person, `${text} of ${person}`);
    await until(() => incoming(`round ${round}`).length > 3, 'some are there');
    await restart();
  }
  await arrive('round', 3 * 8 * people.length);
  desk.delayMs = 0;
  for (const person of people) {
    const own = incoming('round').filter((text) => text.endsWith(person));
    assert.deepEqual(
      own,
      [0, 1, 2].flatMap((round) => numbered(`round ${round}`, 8).map((text) => `${text} of ${person}`)),
    );
  }
});

test('kills in the middle: messages that Chatwoot got an answer for reach the phone once, in order', async () => {
  const texts = numbered('agent', 24);
  for (const [at, text] of texts.entries()) {
    const { id } = desk.write(conversation(), text);
    await desk.told();
    assert.equal(desk.hooked.find((one) => one.id === id && one.event === 'message_created')?.status, 200);
    if (at % 8 === 5) await restart();
  }
  const states = (): string =>
    desk.world.messages.flatMap(({ content, status, error }) => (content.startsWith('agent') ? [`${status} ${error}`] : [])).join(', ');
  const got = (): readonly string[] =>
    scene.platform.sandbox.received(contact).flatMap(({ text }) => (text.startsWith('agent') ? [text] : []));
  await until(
    () => new Set(got()).size === texts.length,
    () => `${texts.length} come; there are ${got().join(', ')}; ${states()}`,
    120_000,
  );
  assert.deepEqual(got(), texts);
  await until(
    () => desk.world.messages.every(({ content, status }) => !content.startsWith('agent') || status === 'delivered'),
    'all are delivered',
  );
  assert.equal(incoming('agent').length, texts.length, 'none comes back');
});

test('deleted: a conversation or contact that was deleted is created again', async () => {
  desk.world.removeConversation(conversation());
  await say(contact, 'after the conversation');
  await arrive('after the conversation', 1);
  const person = [...desk.world.contacts.values()].find(({ phone_number }) => phone_number === `+${contact}`);
  desk.world.removeContact(person?.id ?? 0);
  await say(contact, 'after the contact');
  await arrive('after the contact', 1);
  assert.equal([...desk.world.contacts.values()].filter(({ phone_number }) => phone_number === `+${contact}`).length, 1);
});

test('resolved: a conversation is reopened, or a new one begins, depending on the settings', async () => {
  const talk = () =>
    desk.world.conversations.get(desk.world.messages.findLast(({ content }) => content.startsWith('resolved'))?.conversationId ?? 0);
  await say(contact, 'resolved 0');
  await arrive('resolved', 1);
  const first = talk();
  assert.ok(first);
  first.status = 'resolved';
  await say(contact, 'resolved 1');
  await arrive('resolved', 2);
  assert.deepEqual([talk()?.id, first.status], [first.id, 'open']);
  await connect({ create_new_conversation: true });
  first.status = 'resolved';
  await say(contact, 'resolved 2');
  await arrive('resolved', 3);
  assert.notEqual(talk()?.id, first.id);
  assert.equal(first.status, 'resolved');
  await say(contact, 'resolved 3');
  await arrive('resolved', 4);
  assert.equal(desk.world.messages.findLast(({ content }) => content === 'resolved 2')?.conversationId, talk()?.id, 'the new one goes on');
  await connect();
});

test('outage: a Chatwoot server that is slow or fails delays no webhook, and gets everything when it works again', async () => {
  // Chatwoot answers no request until the webhook got its event.
  desk.delayMs = 600_000;
  const slow = await say(contact, 'while it is slow');
  await until(() => desk.waiting > 0, 'it is asked');
  await scene.told([slow.id]);
  assert.ok(desk.waiting > 0, 'it has not answered yet');
  desk.delayMs = 0;
  desk.refusals.push(500, 502, 429);
  const ill = await say(others[0] ?? '', 'while it is ill');
  await scene.told([ill.id]);
  await arrive('while it is', 2);
});

test('agents: a message wakes a hibernated session, and fails with the reason if the session is logged out', async () => {
  assert.equal((await account.call('POST', '/instance/hibernate')).status, 200);
  await account.reaches('hibernated');
  const woken = desk.write(conversation(), 'wake up');
  await until(
    () => woken.status === 'delivered',
    () => `it is delivered; it is ${woken.status} ${woken.error}`,
  );
  assert.equal((await account.call('POST', '/instance/disconnect')).status, 200);
  await account.reaches('disconnected');
  const lost = desk.write(conversation(), 'nobody at home');
  await until(() => lost.status === 'failed', 'it is failed', 120_000);
  assert.match(lost.error, /not connected/);
});

test('switched off, or moved to another inbox: waiting messages are shown as failed at their origin, and later ones fail at once', async () => {
  const wait = async (text: string) => {
    const written = desk.write(conversation(), text);
    await desk.told();
    assert.equal(desk.hooked.find(({ id }) => id === written.id)?.status, 200);
    return written;
  };
  const failed = async (message: { readonly status: string; readonly error: string }, reason: RegExp) => {
    await until(
      () => message.status === 'failed',
      () => `it is failed; it is ${message.status}`,
    );
    assert.match(message.error, reason);
  };
  const off = await wait('before it is off');
  await connect({ enabled: false });
  await failed(off, /switched off/);
  const refused = desk.write(conversation(), 'while it is off');
  await desk.told();
  assert.deepEqual([refused.status, desk.hooked.find(({ id }) => id === refused.id)?.status], ['failed', 409]);
  await connect();
  const moved = await wait('before it is moved');
  const other = await ChatwootStandIn.open();
  await connect({ url: other.url });
  await failed(moved, /another inbox/);
  await other.close();
  await connect();
});

test('secrets: no log has the access token or the end of the address', async () => {
  printed += scene.gateway.printed;
  assert.ok(printed.length > 0);
  assert.ok(!printed.includes(accessToken));
  assert.ok(!printed.includes(desk.hookUrl.split('/').at(-1) ?? '?'));
  const { body } = await account.call('GET', '/webhook/deliveries?limit=100');
  assert.ok(!JSON.stringify(body).includes(accessToken));
  assert.ok((body['deliveries'] as readonly unknown[]).length > 0, 'deliveries are shown like those of webhooks');
});
