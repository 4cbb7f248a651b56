/** The faults of nodes. Each fault hits one node or all of them, lasts for a while, and is undone. */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { askedOf } from './account.ts';
import type { Cut } from './cable.ts';
import { hour, type Fleet, type Member, type Surroundings } from './fleet.ts';
import type { FleetTraffic } from './fleet-traffic.ts';
import { refusesToStart } from './nodes.ts';
import { shuffled } from './random.ts';
import { until } from './until.ts';

export interface FaultScene {
  readonly fleet: Fleet;
  /** The node of the fault. Faults of all nodes ignore it. */
  readonly member: Member;
  readonly random: () => number;
}

export interface FleetFault {
  /** A sentence that describes the fault. */
  readonly name: string;
  /** True for a fault of all nodes, which never happens together with another fault. */
  readonly toAll?: true;
  /** Causes the fault and undoes it. Returns the number of logins that displaced a connection of a paused process. */
  happen(scene: FaultScene): Promise<number | void>;
}

/** Durations of faults. `short` ends no lease. After `long` every lease of the node has ended, and other nodes own its sessions. In milliseconds. */
const short = 5_000;
const long = 22_000;
/** The time that a process needs after a pause. In milliseconds. */
const settling = 2_000;

const kindOf = (random: () => number): Cut => (random() < 0.5 ? 'stall' : 'reset');

const cutOff = (from: readonly Surroundings[], ms: number, kind?: Cut): FleetFault => ({
  name: `a node is cut off from ${from.join(' and ')} for ${ms / 1000} s${kind === undefined ? '' : kind === 'stall' ? ', and nothing says so' : ', and every connection breaks'}`,
  async happen({ member, random }) {
    member.cut(from, kind ?? kindOf(random));
    await wait(ms);
    member.mend();
  },
});

const killed = (ms: number): FleetFault => ({
  name: ms === 0 ? 'a node is killed and started at once' : `a node is killed and started ${ms / 1000} s later`,
  async happen({ member }) {
    await member.end('SIGKILL');
    await wait(ms);
    await member.gateway.start();
  },
});

/** Returns a fault that pauses a node. Other nodes take its sessions over, and the platform ends its connections, because the paused process cannot. */
const stopped = (ms: number): FleetFault => ({
  name: `a node stands still for ${ms / 1000} s and goes on`,
  async happen({ fleet, member }) {
    const { length } = await fleet.ownedBy(member);
    member.gateway.signal('SIGSTOP');
    await wait(ms);
    member.gateway.signal('SIGCONT');
    await wait(settling);
    return ms > short ? length : 0;
  },
});

const busGone: FleetFault = {
  name: 'NATS is gone for all: each node goes on with its own sessions, and those of others answer 503',
  toAll: true,
  async happen({ fleet }) {
    await fleet.nats.stop();
    const owned = await fleet.owned();
    for (const member of fleet.members) {
      const [account] = owned.get(member.name) ?? [];
      if (account === undefined) continue;
      const { token, number } = account;
      const body = { number: `55116${number.slice(-8)}`, text: `without NATS ${number}` };
      const own = await askedOf(() => member.gateway.call('POST', '/send/text', { token, body }));
      assert.equal(own.status, 200, JSON.stringify(own.body));
      const other = fleet.members.find((one) => one !== member) as Member;
      const refused = await until(async () => {
        const answer = await other.gateway.call('POST', '/send/text', { token, body: { ...body, text: `refused ${number}` } });
        return answer.status !== 504 && answer;
      }, 'a node knows that NATS is gone');
      assert.equal(refused.status, 503, JSON.stringify(refused.body));
    }
    await wait(short);
    await fleet.nats.start();
  },
};

const databaseGone = (ms: number): FleetFault => ({
  name: `PostgreSQL is gone for ${ms / 1000} s`,
  toAll: true,
  async happen({ fleet }) {
    await fleet.server.kill();
    await wait(ms);
    await fleet.server.start();
  },
});

const wrongClock = (ms: number): FleetFault => ({
  name: `a node starts with a clock that is an hour ${ms > 0 ? 'ahead' : 'behind'}`,
  async happen({ member }) {
    await member.leaves();
    await member.gateway.start({ CLOCK_SHIFT_MS: String(ms) });
    await wait(short);
  },
});

const clockJumps: FleetFault = {
  name: 'the clock of a node jumps by an hour while it runs',
  async happen({ member }) {
    member.gateway.signal('SIGUSR2');
    await wait(short);
  },
};

const sameName: FleetFault = {
  name: 'a second node of one name refuses to start, and the first goes on',
  async happen({ fleet, member }) {
    const { gateway } = await fleet.another(member.name);
    await refusesToStart(gateway, new RegExp(`Another node named ${member.name} is running`));
    await gateway.close();
  },
};

const rollingRestart: FleetFault = {
  name: 'every node is restarted, one after the other',
  toAll: true,
  async happen({ fleet }) {
    for (const member of fleet.members) {
      await member.leaves();
      await member.gateway.start();
    }
  },
};

/** All faults. The seed decides their order and their nodes. */
export const faults = {
  killed: killed(0),
  killedForLong: killed(long),
  stopped: stopped(short),
  stoppedForLong: stopped(long),
  databaseBriefly: cutOff(['database'], short),
  databaseSilent: cutOff(['database'], long, 'stall'),
  databaseBroken: cutOff(['database'], long, 'reset'),
  busBriefly: cutOff(['bus'], short, 'reset'),
  busSilent: cutOff(['bus'], long, 'stall'),
  databaseAndBusGone: cutOff(['database', 'bus'], long),
  platformBriefly: cutOff(['platform'], short, 'reset'),
  platformSilent: cutOff(['platform'], long, 'stall'),
  alone: cutOff(['database', 'bus', 'platform'], long),
  busDown: busGone,
  databaseDownBriefly: databaseGone(short),
  databaseDown: databaseGone(long),
  clockAhead: wrongClock(hour),
  clockBehind: wrongClock(-hour),
  clockJumps,
  sameName,
  rollingRestart,
} as const satisfies Readonly<Record<string, FleetFault>>;

/** Causes these faults at the same time, each on a different node, during traffic. Waits until all nodes have recovered. */
export const weather = async (
  { fleet, random }: Omit<FaultScene, 'member'>,
  traffic: FleetTraffic,
  faults: readonly FleetFault[],
): Promise<void> => {
  const members = shuffled(fleet.members, random);
  const before = await fleet.doubleLogins();
  const displaced = await Promise.all(faults.map((fault, at) => fault.happen({ fleet, member: members[at] as Member, random })));
  await fleet.recovers();
  await traffic.proceeds();
  const double = (await fleet.doubleLogins()) - before;
  const most = displaced.reduce<number>((sum, logins) => sum + (logins ?? 0), 0);
  assert.ok(double <= most, `${double} accounts were logged in twice at a time; ${most} may be`);
  for (const one of fleet.members) one.assertSound();
};
