/** The channels that the account follows, listed by the platform: at the first login, when the list is old, and when a client asks before. */
import type { WASocket } from '@whiskeysockets/baileys';
import { channelOf, type Channel, type Entry } from '#actors/model.ts';
import type { DefinitionStore } from '#actors/ports.ts';
import type { Directory } from '../wire/directory.ts';
import { channelIn } from './channel-json.ts';
import { followedEntries, goneChannelEntries } from './from-channels.ts';
import { ask } from './channel-queries.ts';

/** The account's channels as they are stored. */
export interface StoredChannels {
  /** Milliseconds after which they are listed again at a login. */
  readonly maxAgeMs: number;
  /** Returns the time at which the platform listed them last, in Unix milliseconds; null for never. */
  listedAt(): Promise<number | null>;
  /** Their ids. */
  known(): Promise<readonly string[]>;
}

/** The store of channel lists, for all instances. */
export type ChannelStore = Pick<DefinitionStore, 'all'> & Pick<StoredChannels, 'maxAgeMs'>;

export const storedChannels = ({ all, maxAgeMs }: ChannelStore, instance: string): StoredChannels => ({
  maxAgeMs,
  listedAt: async () => (await all(instance, 'channelListing'))[0]?.at ?? null,
  known: async () => (await all(instance, 'channel')).map(({ id }) => id),
});

interface ChannelListParts extends StoredChannels {
  sock(): Pick<WASocket, 'query' | 'generateMessageTag'>;
  directory(): Pick<Directory, 'now'>;
  record(entries: readonly Entry[]): void;
  stumbled(where: string, error: unknown): void;
}

interface Listed {
  readonly channels: readonly Channel[];
  /** Takes the changes that must be stored. */
  readonly entries: readonly Entry[];
}

/** The next login asks for a list: the account may be another one. */
export const unlisted: Entry = { kind: 'definitionGone', definition: { of: 'channelListing', value: { id: 'all', at: 0 } } };

export class ChannelList {
  readonly #parts: ChannelListParts;

  constructor(parts: ChannelListParts) {
    this.#parts = parts;
  }

  /** The session is live: a list that was never made, or long ago, is asked for in the background. */
  opened(): void {
    this.#refreshOld().catch((error: unknown) => this.#parts.stumbled('channels', error));
  }

  /** Asks the platform for all channels, in one request; those in `known` that it leaves out are gone. Null when it answers with none of it. */
  async list(known: readonly string[]): Promise<Listed | null> {
    const answer = await ask(this.#parts.sock(), 'subscribed', { fetch_wamo_sub: false, fetch_status_metadata: false });
    if (!Array.isArray(answer)) return null;
    const told = answer.flatMap((one) => channelIn(one) ?? []).filter(({ state }) => state !== 'deleted');
    const followed = told.map((one) => ({ role: 'subscriber' as const, muted: false, ...one }));
    const listed = new Set(followed.map(({ id }) => id));
    const listing = { id: 'all', at: this.#parts.directory().now() } as const;
    return {
      channels: followed.map(channelOf),
      entries: [
        ...followed.flatMap((one) => followedEntries(one, false)),
        ...known.filter((id) => !listed.has(id)).flatMap(goneChannelEntries),
        { kind: 'definition', definition: { of: 'channelListing', value: listing } },
      ],
    };
  }

  async #refreshOld(): Promise<void> {
    const { maxAgeMs, listedAt, known, directory, record } = this.#parts;
    const at = await listedAt();
    if (at !== null && directory().now() - at <= maxAgeMs) return;
    const listed = await this.list(await known());
    if (listed !== null) record(listed.entries);
  }
}
