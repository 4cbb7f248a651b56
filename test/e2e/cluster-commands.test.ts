/** Tests that any node accepts any request, with two processes and a NATS server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { usualClusterPolicy } from '#actors/cluster/policy.ts';
import { Account } from '#test/support/account.ts';
import type { GatewayProcess } from '#test/support/gateway.ts';
import { NatsServer, withNats } from '#test/support/nats.ts';
import { Nodes } from '#test/support/nodes.ts';
import { contact } from '#test/support/scene.ts';
import { patience, until } from '#test/support/until.ts';

let nats: NatsServer;
let nodes: Nodes;
let second: GatewayProcess;
let owned: Account;
/** The same account, used through the node that does not own it. */
let asked: Account;
before(async () => {
  if (withNats.skip !== undefined) return;
  // JetStream is off, because these tests do not need it.
  nats = await NatsServer.open({ jetStream: false });
  nodes = await Nodes.open({ NATS_URL: nats.url });
  second = await nodes.another('second').start();
  // The other node loads the instance by its token.
  owned = await nodes.scene.create();
  asked = nodes.at(second, owned);
});
after(async () => {
  await nodes?.close();
  await nats?.stop();
});

/** Returns the account through the node that does not own it. The session does not move afterwards. */
const other = async (): Promise<Account> => {
  const [owner] = await nodes.settled([owned]);
  return owner === 'second' ? owned : asked;
};

test('nodes: an instance is paired, shown and used through a node that does not own it', withNats, async () => {
  await asked.pair(nodes.scene.platform);
  await owned.reaches('connected');
  const through = await other();
  await nodes.scene.works(through);
  const found = await through.call('POST', '/chat/find', { limit: 10 });
  assert.equal(found.status, 200);
  const refused = await through.call('POST', '/send/text', { number: contact, text: 'x', replyid: 'unknown' });
  assert.equal(refused.status, 400, 'a refusal of the owner is the answer');
  const bad = await through.call('POST', '/instance/updateInstanceName', { name: 'renamed through the other' });
  assert.equal(bad.status, 200, JSON.stringify(bad.body));
});

test('nodes: a file that one node received is sent by the other', withNats, async () => {
  const through = await other();
  const text = `as a document ${Math.random()}`;
  const file = `data:text/plain;base64,${Buffer.from('a'.repeat(700_000)).toString('base64')}`;
  const sent = await through.call('POST', '/send/media', { number: contact, type: 'document', file, docName: 'a.txt', text });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  await until(() => nodes.scene.readBy(contact).has(text), 'the contact gets the document');
});

test(
  'nodes: a file on the disk of the owner is read through the other node, whole and in part, and stays with the owner',
  withNats,
  async () => {
    const through = await other();
    const owner = through === owned ? asked : owned;
    const text = Array.from({ length: 60_000 }, (_, at) => `${at},`).join('');
    const file = `data:text/plain;base64,${Buffer.from(text).toString('base64')}`;
    const sent = await owner.call('POST', '/send/media', { number: contact, type: 'document', file, docName: 'numbers.txt' });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    const downloaded = await owner.call('POST', '/message/download', { id: sent.body['messageid'] });
    assert.equal(downloaded.status, 200, JSON.stringify(downloaded.body));
    const { pathname } = new URL(String(downloaded.body['fileURL']));
    const read = async ({ gateway }: Account, headers: Readonly<Record<string, string>> = {}) => {
      const response = await fetch(`${gateway.address}${pathname}`, { headers });
      return [response.status, await response.text()] as const;
    };
    assert.deepEqual(await read(through), [200, text]);
    // The range is larger than one piece of an answer between nodes.
    assert.deepEqual(await read(through, { range: 'bytes=10-299999' }), [206, text.slice(10, 300_000)]);
    assert.deepEqual(await read(owner), [200, text], 'the owner still has it');
  },
);

test('nodes: a change on one node is soon known on the others', withNats, async () => {
  const made = await nodes.scene.create();
  const elsewhere = nodes.at(second, made);
  assert.equal((await elsewhere.call('GET', '/instance/status')).status, 200, 'a token that was made a moment ago');
  const rotated = await made.call('POST', '/instance/token/rotate');
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
  assert.equal((await made.call('GET', '/instance/status')).status, 401, 'the old token is void at once where it was rotated');
  await until(async () => (await elsewhere.call('GET', '/instance/status')).status === 401, 'the old token is void');
  const now = Account.of(second, made.number, String(rotated.body['token']));
  assert.equal((await now.call('GET', '/instance/status')).status, 200);
  const saved = await Account.of(nodes.first, made.number, now.token).call('POST', '/webhook', {
    url: nodes.scene.receiver.url,
    events: ['messages'],
  });
  assert.equal(saved.status, 200, JSON.stringify(saved.body));
  await until(
    async () => JSON.stringify((await now.call('GET', '/webhook')).body).includes(nodes.scene.receiver.url),
    'the webhook is known',
  );
  assert.equal((await now.call('DELETE', '/instance')).status, 200);
  const gone = Account.of(nodes.first, made.number, now.token);
  await until(async () => (await gone.call('GET', '/instance/status')).status === 401, 'the instance is gone');
});

/** Opens a stream of messages as a browser does. */
const listen = async ({ gateway, token }: Account, lastEventId = '') => {
  const headers = { 'last-event-id': lastEventId };
  const response = await fetch(`${gateway.address}/sse?token=${token}&events=messages`, { headers });
  assert.equal(response.status, 200);
  const state = { text: '', ended: false };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) state.text += decoder.decode(chunk, { stream: true });
  };
  read().then(
    () => (state.ended = true),
    () => (state.ended = true),
  );
  return state;
};

test('nodes: a stream shows events of any node, stays open when the session moves, and ends with its token', withNats, async () => {
  const made = await nodes.scene.paired();
  const both = [made, nodes.at(second, made)];
  const streams = await Promise.all(both.map((one) => listen(one)));
  const arrives = async (): Promise<void> => {
    const id = await nodes.scene.write(made, `streamed ${Math.random()}`);
    await until(() => streams.every(({ text }) => text.includes(id)), 'both streams show the message');
    for (const { text } of streams) assert.equal(text.split(`"messageid":"${id}"`).length, 2, 'once');
  };
  await arrives();
  const [owner] = await nodes.owners([made]);
  const third = await nodes.another('third').start();
  const leaving = owner === 'second' ? second : nodes.first;
  const staying = streams[owner === 'second' ? 0 : 1]!;
  await leaving.end('SIGTERM');
  const id = await nodes.scene.write(made, 'while it moves');
  await until(() => staying.text.includes(id), 'the stream of the node that stayed goes on');
  await leaving.start();
  await third.end('SIGTERM');
  assert.equal(staying.ended, false);
  // The third node may have had the instance, which nobody has for a moment then.
  await until(async () => (await both[0]!.call('POST', '/instance/token/rotate')).status === 200, 'the token is rotated');
  await until(() => staying.ended, 'the stream ends');
});

test('nodes: without JetStream a stream that resumes at another node reports a gap', withNats, async () => {
  const made = await nodes.scene.paired();
  const here = await listen(made);
  const id = await nodes.scene.write(made, 'the last one before the cut');
  await until(() => here.text.includes(id), 'the stream shows the message');
  const lastEventId = /^id: (.+)$/m.exec(here.text)?.[1] ?? '';
  const there = await listen(nodes.at(second, made), lastEventId);
  await until(() => there.text.includes(': gap'), 'the gap is told');
  await second.prints(/bus\.keepsNothing/);
});

test('nodes: they are listed, and one is drained through another', withNats, async () => {
  const named = async (name: string) => {
    const { body } = await nodes.first.call('GET', '/admin/nodes');
    return (body as unknown as readonly { readonly name: string; readonly owned: number; readonly draining: boolean }[]).find(
      (node) => node.name === name,
    );
  };
  await until(async () => (await named('first')) && (await named('second')), 'both are listed');
  await until(async () => {
    const all = await second.call('GET', '/instance/all');
    const shown = all.body as unknown as readonly { readonly owner: string; readonly status: string }[];
    return shown.find(({ owner }) => owner === owned.number)?.status === 'connected';
  }, 'it is shown as connected, whichever node has it');
  assert.equal((await nodes.first.call('POST', '/admin/nodes/nobody/drain')).status, 404);
  assert.equal((await nodes.first.call('POST', '/admin/nodes/second/drain')).status, 202);
  await until(async () => (await named('second'))?.draining && (await named('second'))?.owned === 0, 'the second one is empty');
  assert.equal((await second.call('GET', '/health/ready')).status, 503);
  // Between the two owners it has none.
  await nodes.ownedBy('first', [owned]);
  await asked.reaches('connected');
  await second.end('SIGTERM');
  await second.start();
});

test('nodes: one that has just started can be drained at once, and can drain another one', withNats, async () => {
  const late = await nodes.another('late').start();
  assert.equal((await nodes.first.call('POST', '/admin/nodes/late/drain')).status, 202);
  assert.equal((await late.call('POST', '/admin/nodes/second/drain')).status, 202);
  await late.end('SIGTERM');
  assert.equal((await nodes.first.call('POST', '/admin/nodes/late/drain')).status, 404);
  await second.end('SIGTERM');
  await second.start();
});

test('nodes: an idempotency key of a campaign applies on all of them', withNats, async () => {
  await nodes.settled([owned]);
  const body = { info: 'once', scheduled_for: 60, messages: [{ number: contact, type: 'text', text: 'only once' }] };
  const headers = { 'idempotency-key': 'one campaign over nodes' };
  const call = ({ gateway, token }: Account) => gateway.call('POST', '/sender/advanced', { token, headers, body });
  const answers = await Promise.all([call(owned), call(asked), call(owned), call(asked)]);
  assert.equal(new Set(answers.map((answer) => answer.body['folder_id'])).size, 1, JSON.stringify(answers.map((answer) => answer.body)));
  const folders = (await asked.call('GET', '/sender/listfolders')).body as unknown as readonly object[];
  assert.equal(folders.length, 1);
  const other = await asked.gateway.call('POST', '/sender/advanced', { token: asked.token, headers, body: { ...body, info: 'twice' } });
  assert.equal(other.status, 409);
  await asked.call('DELETE', '/sender/clearall');
});

test('nodes: an idempotency key of a send applies on all of them', withNats, async () => {
  await nodes.settled([owned]);
  const call = async (account: Account) => {
    const { gateway, token } = account;
    const headers = { 'idempotency-key': 'once over nodes' };
    const { body } = await gateway.call('POST', '/send/text', { token, headers, body: { number: contact, text: 'only once' } });
    return body['messageid'];
  };
  const ids = await Promise.all([call(owned), call(asked), call(owned), call(asked)]);
  assert.equal(new Set(ids).size, 1, JSON.stringify(ids));
});

test('nodes: while a session moves, requests wait for its new owner', withNats, async () => {
  const [owner] = await nodes.settled([owned]);
  const [leaving, staying] = owner === 'second' ? [second, owned] : [nodes.first, asked];
  leaving.signal('SIGTERM');
  const answers: number[] = [];
  const began = performance.now();
  while (performance.now() - began < 4_000 || answers.length === 0) {
    const sentAt = performance.now();
    const { status } = await staying.send(contact, `while it moves ${answers.length}`);
    // On a slow machine a session may move for longer than a request waits. The answer is then 503, and does not count.
    const hasWaited = performance.now() - sentAt >= usualClusterPolicy.ownerWait;
    if (status !== 503 || !hasWaited) answers.push(status);
  }
  assert.ok(
    answers.every((status) => status === 200),
    answers.join(' '),
  );
  assert.equal(await leaving.endsWithin(2 * patience), 0, leaving.printed);
  await leaving.start();
  assert.equal(nodes.doubleLogins, 0);
});

test('nodes: texts that show typing first, and those behind them, move with their session to the new owner', withNats, async () => {
  const [owner] = await nodes.settled([owned]);
  const other = owner === 'second' ? 'first' : 'second';
  const write = (account: Account, text: string, delay: number) => account.call('POST', '/send/text', { number: contact, text, delay });
  await Promise.all([owned, asked].map((account) => account.reaches('connected')));
  const texts = ['typed at the owner', 'typed at the other', 'behind the others'];
  const sent = [write(owned, texts[0]!, 5_000), write(asked, texts[1]!, 5_000), write(asked, texts[2]!, 0)];
  assert.equal((await nodes.first.call('POST', `/admin/nodes/${owner}/drain`)).status, 202);
  const answers = await Promise.all(sent);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
    JSON.stringify(answers.map(({ body }) => body)),
  );
  await nodes.ownedBy(other, [owned]);
  const read = nodes.scene.platform.sandbox.received(contact).map(({ text }) => text);
  for (const text of texts) assert.equal(read.filter((one) => one === text).length, 1, text);
  const stored = (await owned.messages(contact)).filter(({ text }) => texts.includes(text));
  assert.equal(stored.length, 3, 'nothing stays behind of the tries at the former owner');
  const drained = owner === 'second' ? second : nodes.first;
  await drained.end('SIGTERM');
  await drained.start();
});

test('nodes: without NATS each continues with its own sessions, and requests for others are answered with 503', withNats, async () => {
  const through = await other();
  const own = through === owned ? asked : owned;
  await own.reaches('connected');
  await nats.stop();
  await nodes.scene.works(own);
  const away = await until(async () => {
    const answer = await through.send(contact, 'nobody carries this');
    return answer.status === 503 && answer;
  }, 'the other node answers 503');
  assert.match(String(away.body['error']), /^another node has the instance/);
  await nats.start();
  await until(async () => (await through.send(contact, 'carried again')).status === 200, 'NATS carries commands again');
});

test('nodes: a command that may have reached its owner is answered with unknown', withNats, async () => {
  const through = await other();
  const gone = through === owned ? second : nodes.first;
  const text = 'to an owner that stands still';
  const commands: string[] = [];
  const stranger = await connect({ servers: nats.url });
  stranger.subscribe('dormouse.instance.*', { callback: (_, { data }) => void commands.push(Buffer.from(data).toString()) });
  await stranger.flush();
  gone.signal('SIGSTOP');
  const sending = through.send(contact, text);
  // The paused owner still holds its lease.
  await until(() => commands.some((command) => command.includes(text)), 'the command has left');
  await stranger.close();
  await nats.stop();
  const { status, body } = await sending;
  assert.equal(status, 504, JSON.stringify(body));
  gone.signal('SIGKILL');
});
