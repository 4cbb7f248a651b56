/** Faults, counters and the live stream of the platform. */
import { damageKinds } from '../media-host.ts';
import { SandboxError, type Fault, type PlatformMethods, type Stanza } from '../interface.ts';
import { applyFault, isLive } from '../live-faults.ts';
import { type BinaryNode, node } from '../nodes.ts';
import type { Parts } from '../parts.ts';

/**
 * Faults that cannot be limited to one account. Either the client has not named its account yet, or the step does not check to which account the fault belongs.
 */
const anonymous: readonly Fault['kind'][] = [
  'refuseUpgrade',
  'earlySuccess',
  'silentHandshake',
  'garbageHandshake',
  'badCertificate',
  'forgedAccount',
  'historyBomb',
  'forgedPairing',
  'uploadRefused',
  'uploadUnauthorised',
  ...damageKinds,
  'uploadSlow',
  'uploadCut',
];

export type Trust = ReturnType<PlatformMethods['trust']>;

export function platformMethods(parts: Parts, trust: Trust): PlatformMethods {
  return {
    requireVersion: (rules) => parts.versions.require(rules),
    currentVersion: () => parts.versions.current,
    fault: async (fault) => ({ hit: inject(parts, fault) }),
    async inject(number, stanza) {
      for (const device of parts.people.devices(number)) parts.connections.deliver(device, nodeOf(stanza));
    },
    stats: () => parts.counters.snapshot(),
    trust: () => trust,
    subscribe: (listener) => parts.people.subscribe(listener),
  };
}

const nodeOf = ({ tag, attrs, content }: Stanza): BinaryNode =>
  node(tag, attrs, content instanceof Uint8Array ? content : content?.map(nodeOf));

/** Applies, arms or clears a fault. Returns the number of connections that the fault hit at once; with `times` 0, the number of faults that were disarmed. */
function inject({ faults, connections, people }: Parts, fault: Fault): number {
  const { kind, number, times } = fault;
  if (number !== undefined && anonymous.includes(kind)) throw new SandboxError(400, `${kind}: happens before anybody said who connects`);
  if (times !== undefined && (!Number.isInteger(times) || times < 0 || times > 1_000_000)) throw new SandboxError(400, 'times: 0 or more');
  const live = connections.all().filter((one) => number === undefined || people.deviceByKey(one.deviceKey)?.number === number);
  if (times === 0) {
    if (kind === 'delay') for (const one of live) one.delayMs = 0;
    return faults.clear(kind, number);
  }
  if (!isLive(kind)) {
    faults.arm(fault, times ?? 1);
    return 0;
  }
  const chosen = live.slice(0, times ?? live.length);
  for (const one of chosen) applyFault(one, fault);
  // If fewer connections are open than the fault asks for, the remaining uses wait for the next logins.
  const wanted = times ?? Math.max(chosen.length, 1);
  if (wanted > chosen.length) faults.arm(fault, wanted - chosen.length);
  return chosen.length;
}
