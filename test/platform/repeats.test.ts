/** Tests lost acknowledgements. The platform repeats such messages, whose ratchet has moved on. */
import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { FinishedNames, type Page } from '#src/platform/keys/finished-names.ts';
import { finishedType } from '#src/platform/keys/finished-names.ts';
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

/** Opens a proxy to the platform that can drop the bytes of the client. */
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
    /** Breaks the connections. The next connection passes all bytes again. */
    cut(): void {
      mute = false;
      for (const socket of sockets) socket.destroy();
    },
    close: () => server.close(),
  };
};

test('repeats: a stored message is confirmed when it arrives again, without being read again', async (t) => {
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
  // The first messages create the sessions that the next ones advance.
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

/** The names in memory, and the stored pages that the next process finds. */
const kept = (rows: Map<string, Page>) => {
  const clock = { now: 0 };
  const names = new FinishedNames(() => clock.now);
  names.load(rows.values());
  const save = (): void => names.save((id, page) => void (page === null ? rows.delete(id) : rows.set(id, page)));
  return { clock, names, save };
};

test('repeats: the last four thousand names are read from a bounded number of rows, whenever the kill happens', () => {
  const rows = new Map<string, Page>();
  const { names, save } = kept(rows);
  for (let n = 0; n < 9_000; n += 1) {
    names.add(`m${n}`);
    if (n % 100 === 0) save();
  }
  const last = 8_900;
  assert.ok(rows.size <= 256);
  const again = kept(rows);
  for (let n = last; n > last - 255 * 16; n -= 1) assert.ok(again.names.has(`m${n}`), `m${n}`);
  assert.ok(!again.names.has('m0'));
  // A later run continues where this one was.
  again.names.add('later');
  again.save();
  const third = kept(rows);
  assert.ok(third.names.has('later') && third.names.has(`m${last}`));
});

test('repeats: names are forgotten after ten minutes with other names, and never while the platform is away', () => {
  const rows = new Map<string, Page>();
  const { clock, names, save } = kept(rows);
  const add = (from: number, count: number): void => {
    for (let n = from; n < from + count; n += 1) names.add(`m${n}`);
    save();
  };
  add(0, 128);
  clock.now += 24 * 3_600_000;
  assert.ok(names.has('m0') && kept(rows).names.has('m0'));
  add(128, 1);
  assert.ok(!names.has('m0') && names.has('m128'));
  assert.equal(rows.size, 1);
  assert.ok(!kept(rows).names.has('m0') && kept(rows).names.has('m128'));
});
