/** The records of the shared state, and the encryption of a patch. */
import { createCipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { type LTHashState, makeLtHashGenerator, proto, type WAMessageKey, type WAPatchName } from '@whiskeysockets/baileys';
import type { ChatChange, ChatEnd } from '#actors/model.ts';
import { type Directory, isGroup, isPerson } from '../wire/jid.ts';

// The records of the shared state. Each action belongs to one collection, and has one version.

/** The collection and the version of each action that the gateway writes. In the library, some of these values are wrong or missing. */
const collections = {
  archive: ['regular_low', 3],
  pin_v1: ['regular_low', 5],
  markChatAsRead: ['regular_low', 3],
  note_edit: ['regular_low', 7],
  mute: ['regular_high', 2],
  star: ['regular_high', 2],
  clearChat: ['regular_high', 6],
  deleteChat: ['regular_high', 6],
  label_edit: ['regular', 3],
  label_jid: ['regular', 3],
  quick_reply: ['regular', 2],
  contact: ['critical_unblock_low', 2],
  setting_pushName: ['critical_block', 1],
} as const satisfies Readonly<Record<string, readonly [WAPatchName, number]>>;

type ActionName = keyof typeof collections;

export const { SET, REMOVE } = proto.SyncdMutation.SyncdOperation;

/** A change of one record, before it is encrypted. */
export interface Mutation {
  readonly collection: WAPatchName;
  readonly version: number;
  readonly operation: proto.SyncdMutation.SyncdOperation;
  /** The name of the action, followed by the ids of its subject. */
  readonly index: readonly [ActionName, ...string[]];
  readonly value: proto.ISyncActionValue;
}

const mutation = (
  operation: Mutation['operation'],
  name: ActionName,
  about: readonly string[],
  value: proto.ISyncActionValue,
): Mutation => {
  const [collection, version] = collections[name];
  return { collection, version, operation, index: [name, ...about], value };
};

/**
 * Adds a record, or replaces the record with the same index. `about`: the index without the action's name. The time of the change is added
 * when the patch is sent.
 */
export const setAction = (name: ActionName, about: readonly string[], value: proto.ISyncActionValue): Mutation =>
  mutation(SET, name, about, value);

/** Removes a record. Phones remove only records of contacts. They mark all other records as deleted. */
export const removeAction = (name: ActionName, about: readonly string[], value: proto.ISyncActionValue): Mutation =>
  mutation(REMOVE, name, about, value);

/** Returns the id under which phones index a chat. For a person, it is the LID if known. The mapping must already be in `directory`. */
export const indexOfChat = (directory: Directory, chatId: string): string => (isPerson(chatId) && directory.lid(chatId)) || chatId;

/** Stars a message, or removes its star. `jid`: the chat, as phones index it. The record names the author only in groups, and only for messages of others. */
export const starAction = (jid: string, { id, fromMe, participant }: WAMessageKey, starred: boolean): Mutation =>
  setAction('star', [jid, id ?? '', fromMe === true ? '1' : '0', participant ?? '0'], { starAction: { starred } });

// The records that a phone writes when its owner changes a chat.

type Kind = ChatChange['kind'];
type Of<K extends Kind> = Extract<ChatChange, { readonly kind: K }>;

/** The chat of a change. `jid`: its id, as phones index it. `now`: Unix milliseconds. */
interface About {
  readonly jid: string;
  readonly last: ChatEnd | null;
  readonly now: number;
}

/** Returns the range of messages to which a change applies. A phone ignores a change without this range. */
const rangeOf = ({ jid, last, now }: About): proto.SyncActionValue.ISyncActionMessageRange => {
  if (last === null) return { lastMessageTimestamp: Math.floor(now / 1000) };
  const participant = isGroup(jid) && !last.fromMe ? { participant: last.sender } : {};
  const key = { remoteJid: jid, id: last.messageId, fromMe: last.fromMe, ...participant };
  const timestamp = Math.floor(last.at / 1000);
  return { lastMessageTimestamp: timestamp, messages: [{ key, timestamp }] };
};

/** Returns the id of a chat's note. A chat has only one note. */
const noteId = (jid: string): string => createHash('sha256').update(jid).digest('base64');

const pin = ({ jid }: About, pinned: boolean): Mutation => setAction('pin_v1', [jid], { pinAction: { pinned } });

const archive = (about: About, archived: boolean): Mutation =>
  setAction('archive', [about.jid], { archiveChatAction: { archived, messageRange: rangeOf(about) } });

type Mutations = readonly [Mutation, ...Mutation[]];

const writers: { readonly [K in Kind]: (change: Of<K>, about: About) => Mutations } = {
  read: ({ on }, about) => [setAction('markChatAsRead', [about.jid], { markChatAsReadAction: { read: on, messageRange: rangeOf(about) } })],
  archive: ({ on }, about) => [archive(about, on), ...(on ? [pin(about, false)] : [])],
  pin: ({ on }, about) => [pin(about, on), ...(on ? [archive(about, false)] : [])],
  mute: ({ until }, { jid }) => [
    setAction('mute', [jid], { muteAction: until === 0 ? { muted: false } : { muted: true, muteEndTimestamp: until } }),
  ],
  // In the index, `1` deletes starred messages too, and `0` makes the phone keep the files of the messages.
  clear: (_change, about) => [setAction('clearChat', [about.jid, '1', '0'], { clearChatAction: { messageRange: rangeOf(about) } })],
  delete: (_change, about) => [setAction('deleteChat', [about.jid, '1'], { deleteChatAction: { messageRange: rangeOf(about) } })],
  note: ({ text }, { jid, now }) => [
    setAction('note_edit', [noteId(jid)], {
      noteEditAction: {
        type: proto.SyncActionValue.NoteEditAction.NoteType.UNSTRUCTURED,
        chatJid: jid,
        createdAt: now,
        unstructuredContent: text,
        deleted: text === '',
      },
    }),
  ],
};

export const mutationsOf = (change: ChatChange, about: About): Mutations =>
  (writers[change.kind] as (change: ChatChange, about: About) => Mutations)(change, about);

// The encryption of a patch. It does the same as the library's `encodeSyncdPatch`, but takes several mutations and avoids a fault of the library.
// The library keeps the index of a removed record. The hash of every later patch is then wrong.

/** A key that the phone shared with its devices. `id`: the key id in patches. */
export interface SharedKey {
  readonly id: Uint8Array;
  readonly data: Uint8Array;
}

interface MutationKeys {
  readonly index: Buffer;
  readonly encryption: Buffer;
  readonly valueMac: Buffer;
  readonly snapshotMac: Buffer;
  readonly patchMac: Buffer;
}

const keyLength = 32;
const macLength = 32;

const deriveKeys = (data: Uint8Array): MutationKeys => {
  const all = Buffer.from(hkdfSync('sha256', data, Buffer.alloc(0), 'WhatsApp Mutation Keys', 5 * keyLength));
  const at = (number: number): Buffer => all.subarray(number * keyLength, (number + 1) * keyLength);
  return { index: at(0), encryption: at(1), valueMac: at(2), snapshotMac: at(3), patchMac: at(4) };
};

const bigEndian = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

const mac = (algorithm: 'sha256' | 'sha512', key: Buffer, ...data: readonly Uint8Array[]): Buffer => {
  const hmac = createHmac(algorithm, key);
  for (const part of data) hmac.update(part);
  return hmac.digest();
};

interface Sealed {
  readonly operation: Mutation['operation'];
  readonly indexMac: Buffer;
  readonly valueMac: Buffer;
  readonly record: proto.ISyncdRecord;
}

const seal = ({ operation, index, value, version }: Mutation, key: SharedKey, keys: MutationKeys): Sealed => {
  const name = Buffer.from(JSON.stringify(index));
  const plain = proto.SyncActionData.encode({ index: name, value, padding: new Uint8Array(0), version }).finish();
  const iv = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', keys.encryption, iv);
  const encrypted = Buffer.concat([iv, cipher.update(plain), cipher.final()]);
  const head = Buffer.concat([Buffer.from([operation === SET ? 1 : 2]), key.id]);
  const valueMac = mac('sha512', keys.valueMac, head, encrypted, bigEndian(head.length)).subarray(0, macLength);
  const indexMac = mac('sha256', keys.index, name);
  const blob = Buffer.concat([encrypted, valueMac]);
  return { operation, indexMac, valueMac, record: { index: { blob: indexMac }, value: { blob }, keyId: { id: key.id } } };
};

/** An encoded patch, and the state of the collection after the platform has accepted it. */
interface EncodedPatch {
  readonly patch: Uint8Array;
  readonly state: LTHashState;
}

/** Encodes a patch. `state`: the present state of the collection, in the library's form. The object is not changed. */
export const encodePatch = (collection: WAPatchName, mutations: readonly Mutation[], state: LTHashState, key: SharedKey): EncodedPatch => {
  const keys = deriveKeys(key.data);
  const version = state.version + 1;
  const sealed = mutations.map((mutation) => seal(mutation, key, keys));
  const mixing = makeLtHashGenerator(state);
  for (const { indexMac, valueMac, operation } of sealed) mixing.mix({ indexMac, valueMac, operation });
  const { hash, indexValueMap } = mixing.finish();
  const name = Buffer.from(collection);
  const snapshotMac = mac('sha256', keys.snapshotMac, hash, bigEndian(version), name);
  const patchMac = mac('sha256', keys.patchMac, snapshotMac, ...sealed.map(({ valueMac }) => valueMac), bigEndian(version), name);
  const patch = proto.SyncdPatch.encode({
    snapshotMac,
    patchMac,
    keyId: { id: key.id },
    mutations: sealed.map(({ operation, record }) => ({ operation, record })),
  }).finish();
  return { patch, state: { version, hash, indexValueMap } };
};
