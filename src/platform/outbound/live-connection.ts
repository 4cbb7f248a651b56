/** A live connection, with the parts that sends and operations need. */
import type { proto, WASocket } from '@whiskeysockets/baileys';
import type { Entry, Group, Message } from '#actors/model.ts';
import type { LinkPreviews } from '#src/media/link-preview.ts';
import type { SharedState } from '../app-state/shared-state.ts';
import type { Directory } from '../wire/jid.ts';
import type { ChannelList } from '../events/from-channels.ts';
import type { RingingCalls } from '../events/from-calls.ts';
import type { GroupCache } from '../events/group-cache.ts';
import type { Standing } from './standing.ts';
import type { Uploads } from './upload/uploads.ts';
import type { LiveDownloads } from './media-stream.ts';
import type { Transmissions } from './transmissions.ts';

/** Pages and pictures for the previews of links, as `src/media` makes them. */
export type Previews = Pick<LinkPreviews, 'page' | 'picture'>;

/** A message on its way out, which a receiver may ask for again. */
export interface Leaving {
  readonly jid: string;
  readonly messageId: string;
  readonly content: proto.IMessage | null;
}

export interface LiveConnection {
  readonly sock: WASocket;
  readonly directory: Directory;
  readonly transmissions: Transmissions;
  /** Takes every message before the library gets it. `content`: null for a content that is stored. */
  leaving(message: Leaving): void;
  /** True if the last keys of this person were not signed by it, so that nothing was encrypted for it. */
  hasForgedKeys(jid: string): boolean;
  readonly standing: Standing;
  readonly calls: Pick<RingingCalls, 'find' | 'end'>;
  /** A stored message by any form of its id, or of the id of one of its edits; null when there is none. */
  stored(id: string): Promise<Message | null>;
  readonly previews: Previews;
  readonly uploads: Pick<Uploads, 'upload' | 'plain'>;
  readonly downloads: LiveDownloads;
  /** Gives entries to the recorder, in order with the platform's reports. Call this before a frame leaves, so that no receipt comes first. */
  record(entries: readonly Entry[]): void;
  /** Entries that an operation returns for the recorder are in memory at once. */
  apply(entries: readonly Entry[]): void;
  /** Reads the other addresses of people into memory, so that `directory` knows them. */
  loadMappings(jids: readonly string[]): Promise<void>;
  /** A text to a person was written, and with it, when one was due, a privacy token. */
  tokenIssued(jid: string): void;
  /** Changes of the state that the account's devices share. */
  readonly shared: SharedState;
  /** Members and addressing of a group, from memory where possible; null when the platform does not tell. */
  group(jid: string): Promise<Group | null>;
  readonly groups: GroupCache;
  readonly channels: ChannelList;
  /** Seconds until messages of a chat disappear; 0 for never. From memory; `group` has the time of a group. */
  timer(jid: string): Promise<number>;
}
