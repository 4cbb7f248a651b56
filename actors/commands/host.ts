/** The parts of the supervisor that commands need. Each command names the parts that it uses. */
import type { InstanceId, Result } from '../model.ts';
import type { Policy } from '../policy/policy.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';

/** Finds instances in memory. */
export interface Cells {
  cell(id: InstanceId): Cell | null;
}

/** Wakes hibernated sessions. */
export interface Waker {
  /** Returns the instance. Wakes a hibernated session and waits for it. The session may still be unconnected. */
  awake(id: InstanceId): Promise<Result<Cell>>;
}

/** Gives some of the ports. */
export interface WithPorts<Name extends keyof Ports> {
  readonly ports: Pick<Ports, Name>;
}

/** Gives some rules of the policy. */
export interface WithPolicy<Name extends keyof Policy> {
  readonly policy: Pick<Policy, Name>;
}
