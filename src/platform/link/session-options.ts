/** The input of a connection. */
import type { WAVersion } from '@whiskeysockets/baileys';
import type { Message, TimeLock } from '#actors/model.ts';
import type { ChatTimer, LinkHost, Log, OpenOptions, PlatformFact } from '#actors/ports.ts';
import type { AuthState } from '../keys/auth-state.ts';
import type { LiveDownloads } from '../outbound/downloads.ts';
import type { UploadParts } from '../outbound/upload/uploads.ts';
import type { LiveRoute } from '../proxy/route.ts';
import type { Deadlines } from '../wire/deadlines.ts';
import type { StoredChannels } from '../events/channel-list.ts';
import type { PlatformClock } from './platform-clock.ts';
import type { SmallPictures } from './small-pictures.ts';
import type { StoredGroups } from '../events/group-cache.ts';
import type { Previews } from '../outbound/live-connection.ts';
import type { PicturePace } from '../events/own-picture.ts';
import type { SharedTurns } from '../wire/turns.ts';

export interface SessionOptions {
  readonly host: LinkHost;
  readonly url: string | null;
  readonly version: WAVersion;
  readonly auth: AuthState;
  /** Ended with the session. */
  readonly route: LiveRoute;
  readonly turns: SharedTurns;
  readonly pictures: PicturePace;
  readonly small: Pick<SmallPictures, 'learn'>;
  readonly clock: Pick<PlatformClock, 'follow'>;
  readonly open: OpenOptions;
  readonly deadlines: Deadlines;
  readonly inboundBytes: number;
  readonly followsDeletions: boolean;
  readonly log: Log;
  now(): number;
  newId(): string;
  quoted(messageId: string): Promise<Message | null>;
  /** The credentials that were stored when the connection began. */
  readonly timers: readonly ChatTimer[];
  readonly groups: StoredGroups;
  readonly channels: StoredChannels;
  readonly previews: Previews;
  readonly uploads: UploadParts;
  readonly downloads: LiveDownloads;
  /** Called with each time-lock of the account that the platform tells. */
  timeLocked(lock: TimeLock): void;
  emit(fact: PlatformFact): void;
}
