/** Confirmations that leave and never arrive: the platform repeats what it has no word of, and the ratchet that read it has moved on. */
import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { FinishedNames, type Page } from '#src/platform/finished-names.ts';
import { finishedType } from '#src/platform/inbound-log.ts';
import { until } from '#test/support/until.ts';
import { type Bench, connected, startBench } from './setup.ts';

const own = '5511900000701';
const friend = '5511900000702';

let bench: Bench;
before(async () => {
  bench = await startBench();
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
});
after(() => bench.stop());

interface Sent {
  readonly id: string;
}

/** A way to the platform that can swallow what its client says. */
const openWay = async (to: number) => {
  let mute = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) sockets.add(socket.on('error', () => socket.destroy()));
    near.on('data', (chunk) => mute || far.write(chunk)).on('close', () => far.destroy());
    far.on('data', (chunk) => near.write(chunk)).on('close', () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    mute: () => void (mute = true),
    /** Breaks what there is; the next connection is heard again. */
    cut(): void {
      mute = false;
      for (const socket of sockets) socket.destroy();
    },
    close: () => server.close(),
  };
};

test('repeats: what was stored is confirmed when it comes again, without being read again', async (t) => {
  const { sandbox } = bench.running;
  const way = await openWay(bench.running.port);
  t.after(() => way.close());
  const instance = await connected(bench, own, {}, way.port);
  const group = await sandbox.createGroup({ subject: 'Two', creator: friend, participants: [own] });
  const write = (n: number): Promise<readonly Sent[]> =>
    Promise.all([
      sandbox.send(friend, own, { kind: 'text', text: `by number ${n}` }),
      sandbox.send(friend, own, { kind: 'text', text: `by LID ${n}` }, { addressing: 'lid' }),
      sandbox.send(friend, group.jid, { kind: 'text', text: `to the group ${n}` }),
      sandbox.send(own, friend, { kind: 'text', text: `from the own phone ${n}` }),
    ]);
  const arrived = async (messages: readonly Sent[]) => {
    for (const { id } of messages) await instance.message(({ messageId }) => messageId === id, id);
  };
  const { acknowledged: atFirst } = sandbox.stats().messages;
  const confirmed = (count: number) =>
    until(
      () => sandbox.stats().messages.acknowledged >= atFirst + count,
      () => `${count} messages are confirmed; ${sandbox.stats().messages.acknowledged - atFirst} are`,
    );
  // The first ones make the sessions that the next ones move on.
  await arrived(await write(1));
  await confirmed(4);
  const { retryReceipts } = sandbox.stats().messages;

  way.mute();
  const lost = await write(2);
  await arrived(lost);
  await until(
    () => instance.vault.inbound.size === 0 && [...instance.vault.stored.keys.keys()].some((key) => key.startsWith(finishedType)),
    'they have left the log',
  );
  way.cut();
  await instance.fact('platform.closed');
  const before = instance.entries.all.length;
  instance.open();
  await instance.fact('platform.opened');
  await confirmed(8);
  await arrived(await write(3));
  const again = instance.entries.all
    .slice(before)
    .filter((entry) => entry.kind === 'message' && lost.some(({ id }) => id === entry.message.messageId));
  assert.deepEqual(again, []);
  assert.equal(sandbox.stats().messages.retryReceipts, retryReceipts, 'nothing had to be sent again');
});

test('repeats: the last five hundred names come back from a bounded number of rows, whatever the moment of the kill', () => {
  const rows = new Map<string, Page>();
  const names = new FinishedNames();
  for (let n = 0; n < 2_000; n += 1) {
    names.add(`m${n}`);
    if (n % 3 === 0) names.save((id, page) => rows.set(id, page));
  }
  const last = 1_998;
  assert.ok(rows.size <= 8);
  const again = new FinishedNames();
  again.load(rows.values());
  for (let n = last; n > last - 448; n -= 1) assert.ok(again.has(`m${n}`), `m${n}`);
  assert.ok(!again.has('m0'));
  // A later run goes on where this one was.
  again.add('later');
  again.save((id, page) => rows.set(id, page));
  const third = new FinishedNames();
  third.load(rows.values());
  assert.ok(third.has('later') && third.has(`m${last}`));
});
