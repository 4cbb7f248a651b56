/** What one connection offers for a pairing, and when a code is told, against a socket whose answers the test gives. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { Close, PlatformFact } from '#actors/ports.ts';
import { PairingOffer, type PairingSocket } from '#src/platform/connection/pairing-offer.ts';

const deadlines = { login: 5_000, pairingQr: 60, pairingCode: 60_000 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Stage {
  readonly ws = new EventEmitter();
  /** Numbers for which a code was requested, in order. */
  readonly requests: string[] = [];
  readonly facts: PlatformFact[] = [];
  readonly failures: Close[] = [];
  readonly expected: string[] = [];
  readonly offer: PairingOffer;

  constructor(phone: string | null) {
    const sock = {
      ws: this.ws,
      requestPairingCode: async (number: string) => `CODE000${this.requests.push(number)}`,
    } as unknown as PairingSocket;
    this.offer = new PairingOffer(sock, {
      phone,
      deadlines,
      emit: (fact) => void this.facts.push(fact),
      expect: (ms, { message }) => void this.expected.push(`${ms} ${message}`),
      fail: (close) => void this.failures.push(close),
    });
  }

  /** The platform offers references, and the library makes the text of the first. */
  begin(refs: readonly string[] = ['2@one', '2@two']): void {
    const content = [{ tag: 'pair-device', attrs: {}, content: refs.map((ref) => ({ tag: 'ref', attrs: {}, content: Buffer.from(ref) })) }];
    this.ws.emit('CB:iq,type:set,pair-device', { tag: 'iq', attrs: {}, content });
    this.offer.begin(`https://example.com#${refs[0]},keys`);
  }

  async accept(): Promise<void> {
    await turn();
    this.ws.emit('CB:iq,type:result,link_code_companion_reg', { tag: 'iq', attrs: { id: '1' } });
    await turn();
  }

  async refuse(id = '1'): Promise<void> {
    await turn();
    this.ws.emit('CB:iq,type:error', { tag: 'iq', attrs: { id } });
    await turn();
  }

  get shown(): readonly string[] {
    return this.facts.map((fact) => (fact.type === 'platform.qr' ? fact.qr : fact.type === 'platform.code' ? fact.code : fact.type));
  }
}

test('offer: QR texts follow each other, and when they are used up the connection ends with 408', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage(null);
  stage.begin();
  context.mock.timers.tick(29);
  assert.deepEqual(stage.shown, ['https://example.com#2@one,keys']);
  context.mock.timers.tick(1);
  assert.deepEqual(stage.shown, ['https://example.com#2@one,keys', 'https://example.com#2@two,keys']);
  context.mock.timers.tick(30);
  assert.deepEqual([stage.shown.length, stage.failures.map(({ code }) => code), stage.requests], [2, [408], []]);
});

test('offer: a code is told when the platform has answered, not before, and no QR with it', async () => {
  const stage = new Stage('+55 (11) 9');
  stage.begin();
  await turn();
  assert.deepEqual([stage.requests, stage.shown], [['55119'], []]);
  await stage.accept();
  assert.deepEqual([stage.shown, stage.failures], [['CODE0001'], []]);
  assert.deepEqual(stage.expected, ['5000 no answer to the request of a pairing code in time', '60000 the QR or pairing code ran out']);
});

test('offer: a code in place of QR texts ends them', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage(null);
  stage.begin();
  stage.offer.change('551');
  context.mock.timers.tick(1_000);
  await stage.accept();
  context.mock.timers.tick(1_000);
  assert.deepEqual([stage.shown, stage.failures], [['https://example.com#2@one,keys', 'CODE0001'], []]);
});

test('offer: a code that is asked for before the platform is ready is requested when it is', async () => {
  const stage = new Stage(null);
  stage.offer.change('551');
  await turn();
  assert.deepEqual(stage.requests, []);
  stage.begin();
  await stage.accept();
  assert.deepEqual([stage.requests, stage.shown], [['551'], ['CODE0001']]);
});

test('offer: another number while the first request is under way is requested after it, and only its code is told', async () => {
  const stage = new Stage('551');
  stage.begin();
  await turn();
  stage.offer.change('552');
  stage.offer.change('553');
  await turn();
  assert.deepEqual(stage.requests, ['551'], 'one at a time');
  await stage.accept();
  assert.deepEqual([stage.requests, stage.shown], [['551', '553'], []]);
  await stage.accept();
  assert.deepEqual(stage.shown, ['CODE0002']);
});

test('offer: another number after a code was told gets a code of its own', async () => {
  const stage = new Stage('551');
  stage.begin();
  await stage.accept();
  stage.offer.change('552');
  await stage.accept();
  assert.deepEqual(
    [stage.requests, stage.shown],
    [
      ['551', '552'],
      ['CODE0001', 'CODE0002'],
    ],
  );
});

test('offer: a number that the platform refuses ends the connection, and says so', async () => {
  const stage = new Stage('551');
  stage.begin();
  await stage.refuse();
  assert.deepEqual([stage.shown, stage.failures.map(({ data }) => data)], [[], [{ reason: 'numberRefused' }]]);
});

test('offer: a refusal of a number that nobody wants any more changes nothing', async () => {
  const stage = new Stage('551');
  stage.begin();
  await turn();
  stage.offer.change('552');
  await stage.refuse();
  await stage.accept();
  assert.deepEqual([stage.shown, stage.failures], [['CODE0002'], []]);
});

test('offer: a refusal of another request, for which somebody waits, is not taken for that of the code', async () => {
  const stage = new Stage('551');
  stage.ws.on('TAG:77', () => undefined);
  stage.begin();
  await stage.refuse('77');
  await stage.accept();
  assert.deepEqual([stage.shown, stage.failures], [['CODE0001'], []]);
});

test('offer: after its end nothing is told', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stage = new Stage(null);
  stage.begin();
  stage.offer.change('551');
  await turn();
  stage.offer.end();
  await stage.accept();
  stage.offer.change('552');
  stage.begin();
  context.mock.timers.tick(1_000);
  await turn();
  assert.deepEqual([stage.requests, stage.shown.length, stage.failures], [['551'], 1, []]);
});
