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

/** The functions of `src/media` that fetch pages and pictures for link previews. */
export type Previews = Pick<LinkPreviews, 'page' | 'picture'>;

/** A message that is being sent. A receiver may request it again. */
export interface Leaving {
  readonly jid: string;
  readonly messageId: string;
  readonly content: proto.IMessage | null;
}

export interface LiveConnection {
  readonly sock: WASocket;
  readonly directory: Directory;
  readonly transmissions: Transmissions;
  /** Notes a message before the library gets it. `content`: null if the content is stored. */
  leaving(message: Leaving): void;
  /** Returns true if the last keys under the address of a person have a forged signature. Nothing was then encrypted for the person. */
  hasForgedKeys(jid: string): boolean;
  readonly standing: Standing;
  readonly calls: Pick<RingingCalls, 'find' | 'end'>;
  /** Reads a stored message by any form of its id, or of the id of one of its edits. Returns null if there is none. */
  stored(id: string): Promise<Message | null>;
  readonly previews: Previews;
  readonly uploads: Pick<Uploads, 'upload' | 'plain'>;
  readonly downloads: LiveDownloads;
  /** Hands entries to the recorder, in order with the platform's reports. Call this before a frame leaves, so that no receipt comes first. */
  record(entries: readonly Entry[]): void;
  /** Applies the entries of an outcome to the caches of the connection, before the recorder has them. */
  apply(entries: readonly Entry[]): void;
  /** Loads the address pairs of people into memory for `directory`. */
  loadMappings(jids: readonly string[]): Promise<void>;
  /** Notes that a message to a person was written. If a new privacy token was due, the library issues it to the person after the message. */
  tokenIssued(jid: string): void;
  /** Changes of the state that the account's devices share. */
  readonly shared: SharedState;
  /** Returns a group, as `GroupCache.get` does. */
  group(jid: string): Promise<Group | null>;
  readonly groups: GroupCache;
  readonly channels: ChannelList;
  /** Returns the seconds after which messages of a chat disappear; 0 for never. Rejects like `group`. */
  timer(jid: string): Promise<number>;
}
