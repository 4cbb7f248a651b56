/** Types of a request (`iq`) and of its handlers. */
import type { BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device } from '../people.ts';
import type { Connection } from '../wire/connection.ts';

export interface Query {
  readonly parts: Parts;
  readonly connection: Connection;
  readonly stanza: BinaryNode;
  /** The child of the stanza that names the request. */
  readonly request: BinaryNode | undefined;
}

export interface DeviceQuery extends Query {
  readonly device: Device;
}

/** The children of the result. A handler that throws a `SandboxError` answers with an error, whose code is the status. */
export type Answer = readonly BinaryNode[] | undefined;

/** Thrown by a handler if its query is never answered. */
export class Silence extends Error {}

/** A handler, which may look up data asynchronously. The stanza is answered when the handler has ended. */
export type OpenQueries = Readonly<Record<string, (query: Query) => Answer | Promise<Answer>>>;

export type DeviceQueries = Readonly<Record<string, (query: DeviceQuery) => Answer>>;

/** Variables of a query in JSON (`w:mex`). */
export type Variables = Readonly<Record<string, unknown>>;

/**
 * Handlers by the id of the query. A handler returns the value of `data`. A handler that throws a `SandboxError` answers with an error, whose code is
 * the status.
 */
export type MexQueries = Readonly<Record<string, (query: DeviceQuery, variables: Variables) => unknown>>;
