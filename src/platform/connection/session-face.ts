/** What a link sees of a session. */
import type { Close } from '#actors/ports.ts';
import type { LiveConnection } from './live-connection.ts';

export interface Session {
  /** For sends; only meaningful while logged in. */
  readonly connection: LiveConnection;
  readonly loggedIn: boolean;
  lastFrameAt(): number;
  /** Offers a pairing code for this number, in place of whatever is offered. Without effect on a session that is paired. */
  pair(phone: string): void;
  /** Ends the connection, for the reason given. Resolves like `closed`. */
  end(close: Close): Promise<void>;
  /** Resolves after `platform.closed` was emitted: the socket is gone, events are recorded and keys are stored, as far as the deadline allows. */
  readonly closed: Promise<void>;
}
