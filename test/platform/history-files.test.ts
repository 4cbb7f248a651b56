/** Tests files of a history that a media host changed, truncated or moved. They are not recorded, and the right file is taken at the next try. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import { Agent, Dispatcher1Wrapper } from 'undici';
import type { Log } from '#actors/ports.ts';
import { HistoryFiles } from '#src/platform/outbound/history-files.ts';
import type { Fault } from '#src/sandbox/interface.ts';
import { until } from '#test/support/until.ts';
import { type Bench, quietLog, startBench } from './setup.ts';

const friend = '5511900000962';
let bench: Bench;

before(async () => {
  bench = await startBench();
  await bench.running.sandbox.putPerson({ number: friend, name: 'Friend' });
});
after(() => bench.stop());

/** A history that is larger than one that a phone sends within its message. */
const history = { chats: 10, messages: 40 };

interface Warning {
  readonly where: string;
  readonly detail: string;
  /** Messages of the past that were recorded when it was logged. */
  readonly recorded: number;
}

/** Links a phone with a history while the media host does `fault`, and returns what is recorded before the next try and after it. */
const linked = async (number: string, fault: Fault) => {
  const warnings: Warning[] = [];
  const log: Log = {
    ...quietLog,
    warn: (fields, event) =>
      void (event === 'platform.stumbled' && warnings.push({ ...(fields as Omit<Warning, 'recorded'>), recorded: past() })),
  };
  const instance = bench.instance({}, undefined, { log });
  const past = (): number =>
    instance.entries.all.reduce(
      (sum, entry) => sum + (entry.kind === 'history' && entry.past.of === 'messages' ? entry.past.items.length : 0),
      0,
    );
  await bench.running.sandbox.fault(fault);
  instance.open();
  const { qr } = await instance.fact('platform.qr');
  await bench.running.sandbox.scan({ qr, number, name: 'Somebody', history });
  await instance.fact('platform.closed');
  instance.open();
  await instance.fact('platform.opened');
  const { detail, recorded } = await until(() => warnings.find(({ where }) => where === 'history'), 'the refusal of the file');
  const { id } = await bench.running.sandbox.send(friend, number, { kind: 'text', text: 'after the file' });
  await instance.message(({ messageId }) => messageId === id, 'the text after the file');
  return { instance, refusal: detail, recorded, past };
};

const faults: readonly (readonly [string, string, Fault, RegExp])[] = [
  ['with another authentication code', '5511900000963', { kind: 'mediaForged', code: 1 }, /another authentication code/],
  ['with another byte', '5511900000964', { kind: 'mediaForged' }, /another authentication code/],
  ['that breaks off', '5511900000965', { kind: 'mediaCut' }, /./],
];
for (const [what, number, fault, reason] of faults)
  test(`history: nothing of a file ${what} is recorded, and the right one comes at the next try`, async () => {
    const { instance, refusal, recorded, past } = await linked(number, fault);
    assert.match(refusal, reason);
    assert.equal(recorded, 0);
    const whole = history.chats * history.messages;
    await until(() => past() >= whole, 'the history');
    assert.equal(past(), whole);
    assert.deepEqual(instance.surprises, []);
    await instance.link.close();
  });

/** Fetches as the library does, with a local connection in place of each host. Returns the status, and the requested paths. */
const fetched = async (
  t: TestContext,
  address: string,
  answer: (path: string) => { readonly status: number; readonly headers?: OutgoingHttpHeaders },
) => {
  const asked: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const { status, headers = {} } = answer(url);
    response.writeHead(status, headers).end('a file');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({
    connect: (_, callback) => {
      const socket = connect(port, '127.0.0.1', () => callback(null, socket));
      socket.on('error', (error) => callback(error, null));
    },
  });
  t.after(async () => {
    await agent.destroy();
    server.close();
  });
  const refusals: string[] = [];
  const files = new HistoryFiles(agent, ({ message }) => void refusals.push(message));
  files.expect({ directPath: '//v/part', mediaKey: Buffer.alloc(32, 1), fileEncSha256: Buffer.alloc(32) });
  const options = { dispatcher: new Dispatcher1Wrapper(files.dispatcher) } as object;
  const status = await fetch(address, options).then(
    ({ status: code }) => code,
    () => null,
  );
  return { status, asked, refusals };
};

const wrong: readonly (readonly [string, string, readonly string[], RegExp])[] = [
  ['on a host that only begins like the media host', 'https://mmg.whatsapp.net.example.org/x', [], /leads away/],
  ['on another port', 'https://mmg.whatsapp.net:8443/x', [], /leads away/],
  ['without TLS', 'http://mmg.whatsapp.net/x', [], /leads away/],
  ['behind a redirection', 'https://mmg.whatsapp.net/moved', ['/moved'], /leads to another address/],
  [
    'under a path with two slashes, which is another file than announced',
    'https://mmg.whatsapp.net//v/part',
    ['//v/part'],
    /authentication code/,
  ],
];
for (const [where, address, expected, reason] of wrong)
  test(`history: no file is taken ${where}`, async (t) => {
    const redirect = { status: 302, headers: { location: 'https://mmg.whatsapp.net/other' } };
    const { status, asked, refusals } = await fetched(t, address, (path) => (path === '/moved' ? redirect : { status: 200 }));
    assert.deepEqual([status, asked], [null, expected]);
    assert.match(refusals.join(), reason);
  });

test('history: files of the shared state, and refusals of the media host, pass unchanged', async (t) => {
  const answers = (path: string) => ({ status: path === '/gone' ? 410 : 200 });
  assert.equal((await fetched(t, 'https://mmg.whatsapp.net/gone', answers)).status, 410);
  assert.deepEqual(await fetched(t, 'https://mmg.whatsapp.net/patch', answers), { status: 200, asked: ['/patch'], refusals: [] });
});
