/** The type of an operation's handler. A handler needs no `catch` for errors of the library, because `perform` turns them into outcomes. */
import type { OperationControl, Outcome } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';

/** The table of one resource: a handler for each of its operations. Entries in an outcome are stored by the gateway. */
export type Handlers<Resource> = {
  readonly [Name in keyof Resource]: Resource[Name] extends { readonly input: infer Input; readonly answer: infer Answer }
    ? (connection: LiveConnection, input: Input, control: OperationControl) => Promise<Outcome<Answer>>
    : never;
};
