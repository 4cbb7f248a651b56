/** Tests several instances under random faults and commands. The invariants of the design always hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { RunningGateway } from '#actors/gateway.ts';
import { identity, type FakeLink } from '#test/fakes/platform.ts';
import { settle, testPolicy, World } from '#test/fakes/world.ts';

const ids = ['r1', 'r2', 'r3'];
const codes = [515, 428, 408, 503, 500, null, 401, 402, 403, 405, 406, 409, 440];

type Step =
  | { readonly do: 'command'; readonly id: string; readonly name: 'connect' | 'disconnect' | 'reset' | 'hibernate' | 'presence' }
  | { readonly do: 'close'; readonly id: string; readonly code: number | null }
  | { readonly do: 'say'; readonly id: string; readonly what: 'handshaken' | 'qr' | 'paired' | 'opened' }
  | { readonly do: 'stale'; readonly id: string; readonly code: number | null }
  | { readonly do: 'surprise'; readonly id: string }
  | { readonly do: 'storage'; readonly away: boolean }
  | { readonly do: 'pass'; readonly ms: number };

const id = fc.constantFrom(...ids);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('command' as const),
      id,
      name: fc.constantFrom('connect' as const, 'disconnect' as const, 'reset' as const, 'hibernate' as const, 'presence' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('close' as const), id, code: fc.constantFrom(...codes) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      id,
      what: fc.constantFrom('handshaken' as const, 'qr' as const, 'paired' as const, 'opened' as const, 'opened' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stale' as const), id, code: fc.constantFrom(...codes) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('surprise' as const), id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('storage' as const), away: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 200, 1500, 20_000, 130_000, 700_000) }) },
);

const isOpen = (link: FakeLink): boolean => link.state === 'open' || link.state === 'live';

const facts = {
  handshaken: { type: 'platform.handshaken' },
  qr: { type: 'platform.qr', qr: 'text' },
  paired: { type: 'platform.paired', identity },
  opened: { type: 'platform.opened', identity },
} as const;

class Storm {
  readonly world: World;
  readonly gateway: RunningGateway;
  /** The number of commands that were given, and of those that were answered. */
  given = 0;
  answered = 0;
  /** The number of opens that follow a 515, which the gate does not count. */
  reopened = 0;

  constructor(world: World, gateway: RunningGateway) {
    this.world = world;
    this.gateway = gateway;
  }

  async run(step: Step): Promise<void> {
    const { platform, time, db } = this.world;
    if (step.do === 'pass') await time.pass(step.ms);
    else if (step.do === 'storage') db.away = step.away;
    else if (step.do === 'command') this.command(step.id, step.name);
    else this.happen(step, platform.of(step.id));
    await settle();
  }

  happen(step: Extract<Step, { readonly do: 'close' | 'say' | 'stale' | 'surprise' }>, link: FakeLink): void {
    if (step.do === 'stale') link.opens.at(-2)?.emit({ type: 'platform.closed', close: { code: step.code, message: 'late' } });
    else if (step.do === 'surprise') link.host.surprise(new Error('a listener threw'));
    else if (!isOpen(link)) return;
    else if (step.do === 'say') link.say(facts[step.what]);
    else {
      if (step.code === 515) this.reopened += 1;
      link.end(step.code);
    }
  }

  command(id: string, name: Extract<Step, { readonly do: 'command' }>['name']): void {
    const { gateway } = this;
    const calls: Record<typeof name, () => Promise<unknown>> = {
      connect: () => gateway.connect(id, {}),
      disconnect: () => gateway.disconnect(id),
      reset: () => gateway.reset(id),
      hibernate: () => gateway.hibernate(id),
      presence: () => gateway.presence(id, 'available'),
    };
    this.given += 1;
    const count = (): void => void (this.answered += 1);
    calls[name]().then(count, count);
  }
}

async function begin(seed: number): Promise<Storm> {
  const world = new World(seed);
  for (const id of ids) world.register({ id, wanted: 'online', jid: identity.jid, owner: identity.owner });
  const gateway = await world.start();
  await gateway.restore();
  await settle();
  return new Storm(world, gateway);
}

/** Checks the opens in every second, without those that the platform requested. */
function assertWithinGate(storm: Storm): void {
  const { opens } = storm.world.platform;
  const most = Math.max(0, ...opens.map((at) => opens.filter((other) => other >= at && other < at + 1000).length));
  assert.ok(most <= testPolicy.handshakes.perSecond + storm.reopened, `${most} connections in a second`);
}

test('storm: the invariants always hold, and the sessions recover when the faults end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.nat(1000), async (steps, seed) => {
      const storm = await begin(seed);
      const { world, gateway } = storm;
      for (const step of steps) {
        await storm.run(step);
        world.assertKept();
      }
      assertWithinGate(storm);
      // The faults end. Storage answers, and the platform accepts all logins.
      world.db.away = false;
      await world.time.pass(60_000);
      assert.equal(storm.answered, storm.given, 'every command is answered');
      world.platform.onOpen = (link) => queueMicrotask(() => isOpen(link) && link.login());
      for (const link of world.platform.links.values()) if (isOpen(link)) link.end(428);
      for (const id of ids) storm.command(id, 'connect');
      await world.time.pass(1_000_000);
      for (const id of ids) assert.equal(gateway.view(id)?.status, 'connected', id);
      for (const id of ids) assert.equal(world.db.instances.get(id)?.wanted, 'online');
      assert.equal(storm.answered, storm.given);
      await gateway.stop();
      assert.ok([...world.platform.links.values()].every((link) => link.state === 'closed'));
      world.assertKept();
    }),
    { seed: 7, numRuns: 200 },
  );
});

test('storm: a session without commands is never given up while the platform comes and goes', async () => {
  const lost = fc.constantFrom(428, 408, 503);
  await fc.assert(
    fc.asyncProperty(fc.array(lost, { minLength: 1, maxLength: 25 }), fc.nat(1000), async (codes, seed) => {
      const { world, gateway } = await begin(seed);
      const link = world.platform.of('r1');
      for (const [n, code] of codes.entries()) {
        const before = world.time.now();
        link.end(code);
        await world.time.pass(300_000);
        assert.ok(isOpen(link), 'it is open again within the longest pause');
        const delay = (link.opens.at(-1)?.at ?? 0) - before;
        assert.ok(delay >= Math.min(300_000, 1000 * 2 ** n) / 2, `pause ${n} was ${delay} ms`);
      }
      link.login();
      await settle();
      assert.equal(gateway.view('r1')?.status, 'connected');
      world.assertKept();
      await gateway.stop();
    }),
    { seed: 3, numRuns: 20 },
  );
});
