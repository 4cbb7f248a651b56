/** The parts of the supervisor that several groups of commands need. Each group names the parts that it uses. */
import { done, type InstanceId, refuse, type Result } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import type { Cells } from '../supervisor/cells.ts';

/** A host with the sessions of instances. */
export interface WithCells {
  readonly cells: Cells;
}

/** A host with some of the ports. */
export interface WithPorts<Name extends keyof Ports> {
  readonly ports: Pick<Ports, Name>;
}

/** A host with some rules of the policy. */
export interface WithPolicy<Name extends keyof Policy> {
  readonly policy: Pick<Policy, Name>;
}

/** The refusal of a command while the credentials of the last session still exist. A login with these credentials would need no pairing. */
export const notDiscarded = refuse('unavailable', 'the last session is not logged out completely: its credentials are still being deleted');

/** Returns the picture as a JPEG for the platform. An empty `source` means that the picture is removed, and gives null. */
export const portraitOf = ({ portraits }: Pick<Ports, 'portraits'>, id: InstanceId, source: string): Promise<Result<Uint8Array | null>> =>
  source === '' ? Promise.resolve(done(null)) : portraits.take(id, source, 'portrait');
