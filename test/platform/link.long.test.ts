/** Runs the suite of the platform port on the adapter with the simulated platform, and on the fake of the actors' tests. */
import { after, before } from 'node:test';
import type { PlatformFact } from '#actors/ports.ts';
import { platformLinkSuite, type LinkStage } from '#test/contract/platform-link.ts';
import { FakePlatform, identity, type FakeLink } from '#test/fakes/platform.ts';
import { FakeTime, settle } from '#test/fakes/time.ts';
import { Happenings, startBench, type Bench } from './setup.ts';

let bench: Bench;
before(async () => {
  bench = await startBench();
});
after(() => bench.stop());

let people = 5_511_944_440_000;

const realStage = (): LinkStage => {
  const instance = bench.instance();
  const { sandbox } = bench.running;
  let number = String((people += 1));
  return {
    link: instance.link,
    facts: instance.facts.all,
    open: (options) => instance.open(options),
    fact: (type) => instance.fact(type),
    scan: async (qr) => void (await sandbox.scan({ qr, number })),
    async type(code, phone) {
      number = phone;
      await sandbox.enterCode({ number, code });
    },
    drop: async () => void (await sandbox.fault({ kind: 'close', number })),
    unlink: () => sandbox.logout(number),
    async arrived() {
      // No event is expected. The test only waits for work under way in the event loop.
      for (let n = 0; n < 50; n += 1) await settle();
    },
  };
};

/** Plays the platform for the fake. Answers each open and each request for a code as the real one does. */
const answer = (link: FakeLink): void => {
  if (link.state !== 'open') return;
  if (link.hasCredentials) return link.login();
  link.say({ type: 'platform.handshaken' });
  const [phone] = link.codes;
  link.say(phone === undefined ? { type: 'platform.qr', qr: 'QR' } : { type: 'platform.code', code: 'ABCD1234' });
};

const fakeStage = (): LinkStage => {
  const platform = new FakePlatform(new FakeTime());
  platform.onOpen = (link) => setImmediate(() => answer(link));
  const link = platform.link({
    id: 'r0',
    epoch: 1,
    record: () => undefined,
    recorded: async () => true,
    route: () => ({ via: 'direct' }),
    accountOf: () => 'same',
    beginAnew: async () => undefined,
    mayAct: () => true,
    pictureChanged: () => undefined,
    forged: () => undefined,
    surprise: () => undefined,
  });
  const ask = link.pair.bind(link);
  link.pair = (phone) => {
    ask(phone);
    if (link.codes.length > 0) link.say({ type: 'platform.code', code: 'ABCD1234' });
  };
  const facts = new Happenings<PlatformFact>();
  let from = 0;
  const finishPairing = async (): Promise<void> => {
    link.say({ type: 'platform.paired', identity });
    setImmediate(() => link.end(515));
  };
  return {
    link,
    facts: facts.all,
    open(options = {}) {
      from = facts.all.length;
      link.open(options, (fact) => facts.add(fact));
    },
    fact<T extends PlatformFact['type']>(type: T) {
      const isIt = (fact: PlatformFact): fact is Extract<PlatformFact, { readonly type: T }> =>
        fact.type === type && facts.all.indexOf(fact) >= from;
      return facts.wait((fact) => isIt(fact) && fact, type);
    },
    scan: finishPairing,
    type: finishPairing,
    drop: async () => link.end(428),
    unlink: async () => link.end(401),
    arrived: settle,
  };
};

platformLinkSuite('the adapter', realStage);
platformLinkSuite('the fake', fakeStage);
