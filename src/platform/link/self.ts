/**
 * The account of a connection: its identity, the accounts that it may not have, its privacy settings, and the disappearing times of its
 * chats.
 */
import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  isWABusinessPlatform,
  S_WHATSAPP_NET,
  type WASocket,
} from '@whiskeysockets/baileys';
import type { ChatPatch, Entry } from '#actors/model.ts';
import type { ChatTimer, Identity } from '#actors/ports.ts';
import type { GroupCache } from '../events/group-cache.ts';
import type { BaileysEvent } from '../events/library-values.ts';
import type { AuthState } from '../keys/auth-state.ts';
import { bare, chatOf, type Directory, mappedJid, userOf } from '../wire/jid.ts';

// Reads the identity of the account from its credentials.

interface DirectoryParts {
  readonly auth: AuthState;
  readonly groups: Pick<GroupCache, 'name' | 'community'>;
  newId(): string;
  now(): number;
}

export const directoryOf = ({ auth, groups, newId, now }: DirectoryParts): Directory => {
  const { creds } = auth.state;
  const lookUp = (id: string) => auth.peek('lid-mapping', id);
  return {
    get me() {
      const { me } = creds;
      return { pn: bare(me?.id), lid: bare(me?.lid), name: me?.name && me.name !== '~' ? me.name : '' };
    },
    pn: (lid) => mappedJid(lookUp, lid),
    lid: (pn) => mappedJid(lookUp, pn),
    groupName: (jid) => groups.name(jid),
    community: (id) => groups.community(id),
    newId,
    now,
  };
};

export const identityOf = ({ state: { creds } }: AuthState, directory: Directory): Identity => ({
  jid: creds.me?.id ?? '',
  lid: directory.me.lid,
  owner: userOf(creds.me?.id ?? ''),
  profileName: directory.me.name,
  isBusiness: creds.platform !== undefined && isWABusinessPlatform(creds.platform),
  platform: (creds.platform ?? '').toLowerCase(),
});

// Refuses to be linked to an account that the instance may not have, before the device is signed: its phone then lists no device.

const event = 'CB:iq,,pair-success';

/** The number of the account that the device would belong to; '' when the platform names none. */
const numberOf = (stanza: BinaryNode): string =>
  userOf(getBinaryNodeChild(getBinaryNodeChild(stanza, 'pair-success'), 'device')?.attrs['jid'] ?? '');

/**
 * Refuses a pairing with a forbidden account as tulir/whatsmeow does (`PrePairCallback`), and calls `refused`. The library would sign every
 * pairing, and sees only the allowed ones. Throws if the library's listener is not the expected one.
 */
export const refuseAccounts = (
  sock: Pick<WASocket, 'ws' | 'sendNode'>,
  isRefused: (number: string) => boolean,
  refused: () => void,
): void => {
  const listeners = sock.ws.listeners(event) as ((stanza: BinaryNode) => unknown)[];
  if (listeners.length !== 1) throw new Error(`the library has ${listeners.length} listeners that end a pairing`);
  const [link] = listeners;
  sock.ws.removeAllListeners(event);
  // The promise goes to the emitter, which catches its rejection.
  sock.ws.on(event, async (stanza: BinaryNode) => {
    if (!isRefused(numberOf(stanza))) return link?.(stanza);
    const error: BinaryNode = { tag: 'error', attrs: { code: '500', text: 'internal-error' } };
    try {
      await sock.sendNode({ tag: 'iq', attrs: { to: S_WHATSAPP_NET, type: 'error', id: stanza.attrs['id'] ?? '' }, content: [error] });
    } finally {
      refused();
    }
  });
};

/**
 * Follows changes of the privacy settings by the phone or another device. The library uses its copy for read receipts and does not follow
 * these changes.
 */
export const followPrivacy = (sock: WASocket, failed: (error: unknown) => void): void => {
  sock.ws.on('CB:notification,type:account_sync,privacy', () => void sock.fetchPrivacySettings(true).catch(failed));
};

// Reports the blocked people from the platform's list at the login. The library queries the list and drops the answer. A new device gets
// its chats after the login, with the phone's history, so that the list is reported again afterwards.

export interface BlockedPeople {
  /** Follows changes of the list, and reports the list again behind each part of the history. */
  observe(event: BaileysEvent): void;
}

export const watchBlocked = (sock: Pick<WASocket, 'ws'>, tell: (event: BaileysEvent) => void): BlockedPeople => {
  const blocked = new Set<string>();
  const asEvent = (): BaileysEvent => ({ name: 'blocklist.set', data: { blocklist: [...blocked] } });
  sock.ws.on('CB:iq,,list', (answer: BinaryNode) => {
    const items = getBinaryNodeChildren(getBinaryNodeChild(answer, 'list'), 'item');
    blocked.clear();
    for (const { attrs } of items) if (attrs['jid']) blocked.add(attrs['jid']);
    if (blocked.size > 0) tell(asEvent());
  });
  return {
    observe(event) {
      if (event.name === 'blocklist.update') {
        for (const jid of event.data.blocklist)
          if (event.data.type === 'add') blocked.add(jid);
          else blocked.delete(jid);
      }
      if (event.name === 'messaging-history.set' && blocked.size > 0) tell(asEvent());
    },
  };
};

// The disappearing times of chats between two people, in seconds. They are read once when a connection begins, and then follow changes. The
// cache of groups has the times of groups.

const patchesIn = (entry: Entry): readonly ChatPatch[] => {
  if (entry.kind === 'chat' || entry.kind === 'message') return [entry.chat];
  if (entry.kind !== 'history') return [];
  const { past } = entry;
  if (past.of === 'messages') return past.items.map(({ chat }) => chat);
  return past.of === 'chats' ? past.items : [];
};

export class ChatTimers {
  readonly #directory: Directory;
  /** Chats without a timer are not in it. */
  readonly #seconds: Map<string, number>;

  constructor(stored: readonly ChatTimer[], directory: Directory) {
    this.#directory = directory;
    this.#seconds = new Map(stored.map(({ chatId, seconds }) => [chatId, seconds]));
  }

  /** Takes all entries that were given to the recorder. */
  apply(entries: readonly Entry[]): void {
    for (const entry of entries)
      for (const { chatId, ephemeralExpiration: seconds, isGroup } of patchesIn(entry)) {
        if (seconds === undefined || isGroup === true) continue;
        if (seconds > 0) this.#seconds.set(chatId, seconds);
        else for (const id of this.#names(chatId)) this.#seconds.delete(id);
      }
  }

  /** 0 for never. The chat may have got its timer under the other address of the person. */
  of(jid: string): number {
    for (const id of this.#names(jid)) {
      const seconds = this.#seconds.get(id);
      if (seconds !== undefined) return seconds;
    }
    return 0;
  }

  #names(jid: string): readonly string[] {
    if (this.#seconds.size === 0) return [];
    const { id, pn, lid } = chatOf(this.#directory, jid);
    return [id, pn, lid];
  }
}
