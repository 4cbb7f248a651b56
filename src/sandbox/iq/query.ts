/** Shape of a question and of those who answer it. */
import type { BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device } from '../people.ts';
import type { Connection } from '../wire/connection.ts';

export interface Query {
  readonly parts: Parts;
  readonly connection: Connection;
  readonly stanza: BinaryNode;
  /** The only child, which says what is asked. */
  readonly request: BinaryNode | undefined;
}

export interface DeviceQuery extends Query {
  readonly device: Device;
}

/** Children of the result; a `SandboxError` that is thrown becomes an error with its status as code. */
export type Answer = readonly BinaryNode[] | undefined;

export type OpenQueries = Readonly<Record<string, (query: Query) => Answer>>;

export type DeviceQueries = Readonly<Record<string, (query: DeviceQuery) => Answer>>;
