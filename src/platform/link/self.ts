/**
 * The account of a connection: its identity, the refusal of other accounts, its privacy settings, its blocked people, and the disappearing
 * timers of its chats.
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
import { bare, chatOf, type Directory, mappedJid, personServer, userOf } from '../wire/jid.ts';

// The identity of the account, which comes from its credentials.

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

// The refusal of accounts that the instance may not have. It happens before the device is signed, so that the phone does not list the device.

const event = 'CB:iq,,pair-success';

/** Returns the number of the account that links the device; '' if the platform does not name it. */
const numberOf = (stanza: BinaryNode): string =>
  userOf(getBinaryNodeChild(getBinaryNodeChild(stanza, 'pair-success'), 'device')?.attrs['jid'] ?? '');

/**
 * Refuses a pairing with a forbidden account as tulir/whatsmeow does (`PrePairCallback`), and calls `refused`. The library, which signs every pairing, gets
 * only allowed pairings. Throws if the library does not have exactly one listener.
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
  // The emitter gets the promise, and catches its rejection.
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
 * Removes the device of this session from the account. Resolves when the platform confirms the removal. The library's `logout` waits only until the kernel has
 * the bytes, and would succeed even over a dead connection.
 */
export const removeDevice = async (sock: WASocket): Promise<void> => {
  const removal = { tag: 'remove-companion-device', attrs: { jid: sock.authState.creds.me?.id ?? '', reason: 'user_initiated' } };
  await sock.query({ tag: 'iq', attrs: { to: personServer, type: 'set', xmlns: 'md' }, content: [removal] });
};

/**
 * Refreshes the library's copy of the privacy settings after a change on another device. The library needs this copy for read receipts, and
 * does not refresh the copy by itself.
 */
export const followPrivacy = (sock: WASocket, failed: (error: unknown) => void): void => {
  sock.ws.on('CB:notification,type:account_sync,privacy', () => void sock.fetchPrivacySettings(true).catch(failed));
};

// The list of blocked people. The library queries the list at the login and drops the answer. A new device gets its chats after the login, with the phone's
// history. The list is therefore reported again after each part.

export class BlockedPeople {
  readonly #tell: (event: BaileysEvent) => void;
  readonly #blocked = new Set<string>();
  /** True after the answer to the query of the login. */
  #isKnown = false;

  constructor(sock: Pick<WASocket, 'ws'>, tell: (event: BaileysEvent) => void) {
    this.#tell = tell;
    sock.ws.on('CB:iq,,list', (answer: BinaryNode) => {
      const items = getBinaryNodeChildren(getBinaryNodeChild(answer, 'list'), 'item');
      this.#blocked.clear();
      for (const { attrs } of items) if (attrs['jid']) this.#blocked.add(attrs['jid']);
      // The answer to a change may lack the list, so only the first answer may report an empty list.
      if (!this.#isKnown || this.#blocked.size > 0) this.#report();
      this.#isKnown = true;
    });
  }

  /** Applies changes of the list, and reports the list again after each part of the history. */
  observe(event: BaileysEvent): void {
    if (event.name === 'blocklist.update') {
      for (const jid of event.data.blocklist)
        if (event.data.type === 'add') this.#blocked.add(jid);
        else this.#blocked.delete(jid);
    }
    if (event.name === 'messaging-history.set' && this.#isKnown && this.#blocked.size > 0) this.#report();
  }

  #report(): void {
    this.#tell({ name: 'blocklist.set', data: { blocklist: [...this.#blocked] } });
  }
}

// The disappearing timers of chats with one person, in seconds. They are read once at the beginning of a connection, and then updated by
// changes. The cache of groups has the timers of groups.

const patchesIn = (entry: Entry): readonly ChatPatch[] => {
  if (entry.kind === 'chat' || entry.kind === 'message') return [entry.chat];
  if (entry.kind !== 'history') return [];
  const { past } = entry;
  if (past.of === 'messages') return past.items.map(({ chat }) => chat);
  return past.of === 'chats' ? past.items : [];
};

export class ChatTimers {
  readonly #directory: Directory;
  /** The timers by chat. Chats without a timer are missing. */
  readonly #seconds: Map<string, number>;

  constructor(stored: readonly ChatTimer[], directory: Directory) {
    this.#directory = directory;
    this.#seconds = new Map(stored.map(({ chatId, seconds }) => [chatId, seconds]));
  }

  /** Applies entries. The caller must pass all entries that it gives to the recorder. */
  apply(entries: readonly Entry[]): void {
    for (const entry of entries)
      for (const { chatId, ephemeralExpiration: seconds, isGroup } of patchesIn(entry)) {
        if (seconds === undefined || isGroup === true) continue;
        if (seconds > 0) this.#seconds.set(chatId, seconds);
        else for (const id of this.#names(chatId)) this.#seconds.delete(id);
      }
  }

  /** Returns the timer of a chat; 0 for none. The timer may be stored under the other address of the person. */
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
