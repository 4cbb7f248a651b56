/** The interface of a session for its link. */
import type { Close } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import type { PairingOffer } from './pairing-offer.ts';

export interface Session {
  /** For sends; only meaningful while logged in. */
  readonly connection: LiveConnection;
  readonly loggedIn: boolean;
  lastFrameAt(): number;
  /** The pairing of the session: takes another number, and the steps of the owner about a passkey. It has no effect on a paired session. */
  readonly offer: Pick<PairingOffer, 'change' | 'passkey'>;
  /** Ends the connection, for the reason given. Resolves like `closed`. */
  end(close: Close): Promise<void>;
  /** Resolves after `platform.closed` was emitted: the socket is gone, events are recorded and keys are stored, as far as the deadline allows. */
  readonly closed: Promise<void>;
}
