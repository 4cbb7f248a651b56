/** The input and the interface of a connection, and functions that combine parts of a session. */
import type { WASocket, WAVersion } from '@whiskeysockets/baileys';
import type { Message, TimeLock } from '#actors/model.ts';
import type { ChatTimer, Close, LinkHost, Log, OpenOptions, PlatformFact } from '#actors/ports.ts';
import type { StoredChannels } from '../events/from-channels.ts';
import type { StoredGroups } from '../events/group-cache.ts';
import { OwnPicture, type PicturePace, type SmallPictures } from './pictures.ts';
import type { AuthState } from '../keys/auth-state.ts';
import type { GroupKeys } from '../keys/group-keys.ts';
import type { LiveDownloads } from '../outbound/media-stream.ts';
import type { LiveConnection, Previews } from '../outbound/live-connection.ts';
import type { UploadParts } from '../outbound/upload/uploads.ts';
import type { LiveRoute } from '../proxy/route.ts';
import { chatOf, type Directory } from '../wire/jid.ts';
import type { SharedSchedulers } from '../wire/frames.ts';
import type { PairingOffer } from './pairing-offer.ts';
import type { PlatformClock } from './platform-clock.ts';

// The time-outs of a connection.

/** Time limits in milliseconds. */
export interface Deadlines {
  /** The limit from the creation of the connection to the end of the handshake. */
  readonly open: number;
  /** The limit from the handshake to the login, or to the first QR text. */
  readonly login: number;
  /** The limit for the close of the connection and for all pending writes together. */
  readonly close: number;
  /** The longest time without a frame from the platform. */
  readonly silence: number;
  /** The limit from the hand-over of a message to the library until its acknowledgement. */
  readonly send: number;
  readonly pairingQr: number;
  readonly pairingCode: number;
}

/** The input of a connection. */
export interface SessionOptions {
  readonly host: LinkHost;
  readonly url: string | null;
  readonly version: WAVersion;
  readonly auth: AuthState;
  /** The route of the connection. It is closed with the session. */
  readonly route: LiveRoute;
  readonly schedulers: SharedSchedulers;
  readonly pictures: PicturePace;
  readonly small: Pick<SmallPictures, 'add'>;
  readonly clock: Pick<PlatformClock, 'follow'>;
  readonly open: OpenOptions;
  readonly deadlines: Deadlines;
  readonly inboundBytes: number;
  readonly followsDeletions: boolean;
  readonly log: Log;
  now(): number;
  newId(): string;
  quoted(messageId: string): Promise<Message | null>;
  /** The stored disappearing timers at the beginning of the connection. */
  readonly timers: readonly ChatTimer[];
  readonly groups: StoredGroups;
  readonly channels: StoredChannels;
  readonly previews: Previews;
  readonly uploads: UploadParts;
  readonly downloads: LiveDownloads;
  /** Gets each time-lock of the account that the platform reports. */
  timeLocked(lock: TimeLock): void;
  emit(fact: PlatformFact): void;
}

/** The interface of a session for its link. */
export interface Session {
  /** The connection for sends. Use it only while logged in. */
  readonly connection: LiveConnection;
  readonly loggedIn: boolean;
  lastFrameAt(): number;
  /** The pairing offer. It accepts another number and the owner's steps with a passkey. It has no effect on a paired session. */
  readonly offer: Pick<PairingOffer, 'change' | 'passkey'>;
  /** Ends the connection for this reason. Resolves like `closed`. */
  end(close: Close): Promise<void>;
  /** Resolves after `platform.closed` was emitted. The socket is then closed, and events and keys are stored unless the deadline was reached. */
  readonly closed: Promise<void>;
}

// Functions that combine parts of a session.

/** Makes a session, and closes its route if that fails. */
export const orCloseRoute = <T>(route: Pick<LiveRoute, 'close'>, make: () => T): T => {
  try {
    return make();
  } catch (error) {
    route.close();
    throw error;
  }
};

/** Creates the `OwnPicture` of a session, which tracks the profile picture of the account. */
export const ownPictureOf = (
  sock: Pick<WASocket, 'profilePictureUrl'>,
  directory: Directory,
  { host, pictures, small, emit, ...options }: SessionOptions,
  failed: (error: unknown) => void,
): OwnPicture =>
  new OwnPicture({
    sock,
    pace: pictures,
    me: () => directory.me,
    changed: (id) => host.pictureChanged(chatOf(directory, id).id),
    found: (profilePicUrl) => {
      emit({ type: 'platform.identity', patch: { profilePicUrl } });
      void small.add(host.id, profilePicUrl, options);
    },
    failed,
  });

/** Resolves with true when all present changes of keys are stored, and with false if they never will be. Never rejects. */
export const keysStored = async (groups: Pick<GroupKeys, 'settled'>, auth: Pick<AuthState, 'durable'>): Promise<boolean> => {
  const changed = groups.settled().then(() => auth.durable());
  return (await Promise.allSettled([changed]))[0].status === 'fulfilled';
};
