/** Tests the look-up of names that users gave, with a real name server on loopback. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createResolve, type Resolve } from '#src/webhooks/names.ts';

type Answer = 'silence' | 'unknown' | 'address';

const nameOf = (question: Buffer): string => {
  const labels: string[] = [];
  for (let at = 12; question[at]; at += (question[at] ?? 0) + 1)
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  return labels.join('.');
};

/** Returns the answer to a question of one name (RFC 1035): `203.0.113.7` for its IPv4 address, no IPv6 address, or an unknown name. */
const answerTo = (query: Buffer, answer: Answer): Buffer => {
  const end = 12 + nameOf(query).length + 2 + 4;
  const reply = Buffer.from(query.subarray(0, end));
  const isIpv4 = query.readUInt16BE(end - 4) === 1;
  reply.writeUInt16BE(answer === 'unknown' ? 0x81_83 : 0x81_80, 2);
  reply.writeUInt16BE(answer === 'address' && isIpv4 ? 1 : 0, 6);
  reply.writeUInt32BE(0, 8);
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 7]);
  return answer === 'address' && isIpv4 ? Buffer.concat([reply, record]) : reply;
};

const nameServer = async (
  t: TestContext,
  answerOf: (name: string) => Answer,
): Promise<{ readonly address: string; readonly asked: string[] }> => {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, { port, address }) => {
    const name = nameOf(query);
    asked.push(name);
    if (answerOf(name) !== 'silence') socket.send(answerTo(query, answerOf(name)), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
};

const noSystem = (host: string): Promise<LookupAddress[]> => Promise.reject(Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' }));

const ask = (resolve: Resolve, host: string, family = 0): Promise<readonly LookupAddress[]> =>
  new Promise((done, fail) => resolve(host, { all: true, family }, (error, found) => (error ? fail(error) : done(found))));

test('look-up of names: those whose servers stay silent delay no other name, and take no look-up of the system', async (t) => {
  const { address } = await nameServer(t, (name) => (name === 'good.example' ? 'address' : 'silence'));
  let systemCalls = 0;
  const system = (host: string): Promise<LookupAddress[]> => ((systemCalls += 1), noSystem(host));
  const resolve = createResolve({ servers: [address], queryMs: 300, system });
  let ended = 0;
  const silent = Array.from({ length: 60 }, (_, n) =>
    assert.rejects(ask(resolve, `a${n}.silent.example`), { code: 'EAI_AGAIN' }).finally(() => (ended += 1)),
  );
  assert.deepEqual(await ask(resolve, 'good.example'), [{ address: '203.0.113.7', family: 4 }]);
  assert.equal(ended, 0);
  await Promise.all(silent);
  assert.equal(systemCalls, 0);
});

test('look-up of names: concurrent ones of one name are one query for each family', async (t) => {
  const { address, asked } = await nameServer(t, () => 'address');
  const resolve = createResolve({ servers: [address], system: noSystem });
  await Promise.all([1, 2, 3].map(() => ask(resolve, 'shared.example')));
  assert.deepEqual(asked, ['shared.example', 'shared.example']);
  assert.deepEqual(await ask(resolve, 'shared.example', 4), [{ address: '203.0.113.7', family: 4 }]);
  assert.equal(asked.length, 3);
});

test('look-up of names: a name that the name servers do not know is asked at the system, one after another', async (t) => {
  const { address } = await nameServer(t, () => 'unknown');
  const [open, order]: [(() => void)[], string[]] = [[], []];
  const system = (host: string): Promise<LookupAddress[]> => {
    order.push(host);
    return new Promise((resolve) => open.push(() => resolve([{ address: '10.0.0.1', family: 4 }])));
  };
  const resolve = createResolve({ servers: [address], system });
  const both = Promise.all(['one.internal', 'two.internal'].map((host) => ask(resolve, host)));
  while (open.length === 0) await new Promise((turn) => setTimeout(turn, 5));
  await new Promise((turn) => setTimeout(turn, 50));
  assert.equal(order.length, 1);
  open.shift()?.();
  while (open.length === 0) await new Promise((turn) => setTimeout(turn, 5));
  open.shift()?.();
  assert.deepEqual(
    (await both).flat(),
    Array.from({ length: 2 }, () => ({ address: '10.0.0.1', family: 4 })),
  );
});

test('look-up of names: a name with fewer dots than ndots belongs to the search domains first', async (t) => {
  const { address, asked } = await nameServer(t, (name) => (name === 'hooks.dev.svc.cluster.local' ? 'address' : 'unknown'));
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-names-'));
  t.after(() => rm(folder, { recursive: true }));
  const resolverFile = join(folder, 'resolv.conf');
  await writeFile(resolverFile, 'nameserver 10.0.0.10\nsearch shop.svc.cluster.local svc.cluster.local\noptions ndots:5 timeout:1\n');
  const resolve = createResolve({ servers: [address], resolverFile, system: noSystem });
  assert.deepEqual(await ask(resolve, 'hooks.dev', 4), [{ address: '203.0.113.7', family: 4 }]);
  assert.deepEqual(asked.splice(0), ['hooks.dev.shop.svc.cluster.local', 'hooks.dev.svc.cluster.local']);
  await assert.rejects(ask(resolve, 'hooks.dev.', 4));
  assert.deepEqual(asked, ['hooks.dev']);
});

test('look-up of names: the hosts file comes before the name servers, and a name without a dot goes to the system', async (t) => {
  const { address, asked } = await nameServer(t, () => 'address');
  const folder = await mkdtemp(join(tmpdir(), 'dormouse-names-'));
  t.after(() => rm(folder, { recursive: true }));
  const hostsFile = join(folder, 'hosts');
  await writeFile(
    hostsFile,
    '127.0.0.1 localhost\n# 10.9.9.9 hook.internal\n10.1.2.3\tHook.internal other # note\nfd00::3 hook.internal\n',
  );
  const system = (): Promise<LookupAddress[]> => Promise.resolve([{ address: '172.18.0.2', family: 4 }]);
  const resolve = createResolve({ servers: [address], hostsFile, system });
  assert.deepEqual(await ask(resolve, 'hook.internal'), [
    { address: '10.1.2.3', family: 4 },
    { address: 'fd00::3', family: 6 },
  ]);
  assert.deepEqual(await ask(resolve, 'hook.internal', 6), [{ address: 'fd00::3', family: 6 }]);
  assert.deepEqual(await ask(resolve, 'receiver'), [{ address: '172.18.0.2', family: 4 }]);
  assert.deepEqual(asked, []);
});
