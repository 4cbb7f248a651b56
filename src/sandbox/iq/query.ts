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

/** The children of the result. If a handler throws a `SandboxError`, the answer is an error whose code is the status. */
export type Answer = readonly BinaryNode[] | undefined;

/** The error that a handler throws if its query gets no answer. */
export class Silence extends Error {}

/** Handlers of requests that need no login, by the name of the request. A handler may be asynchronous. The request is answered when its handler has ended. */
export type OpenQueries = Readonly<Record<string, (query: Query) => Answer | Promise<Answer>>>;

export type DeviceQueries = Readonly<Record<string, (query: DeviceQuery) => Answer>>;

/** Variables of a query in JSON (`w:mex`). */
export type Variables = Readonly<Record<string, unknown>>;

/** Handlers by the id of the query. A handler returns the value of `data`. If it throws a `SandboxError`, the answer is an error whose code is the status. */
export type MexQueries = Readonly<Record<string, (query: DeviceQuery, variables: Variables) => unknown>>;
