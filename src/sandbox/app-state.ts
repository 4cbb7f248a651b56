/** Chat settings that the devices of one account share (archive, mute, pin, …). The platform stores them as encrypted patches, in order. */
import {
  chatModificationToAppPatch,
  decodePatches,
  encodeSyncdPatch,
  newLTHashState,
  proto,
  type LTHashState,
  type WAPatchCreate,
  type WAPatchName,
} from '@whiskeysockets/baileys';
import { children, bytes, child, node, unixSeconds, type BinaryNode } from './nodes.ts';
import { isGroupJid, jidOf, pnJid } from './address.ts';
import type { Digits, Setting } from './face.ts';
import type { Links } from './links.ts';
import type { Device, People, Person } from './people.ts';
import type { Random } from './random.ts';
import { decode, encode, type Database, type Records } from './store/database.ts';

interface SharedKey {
  readonly id: Uint8Array;
  readonly data: Uint8Array;
}

/** Patches in one answer at most. The client asks again for the rest. */
const page = 100;

export class AppState {
  readonly #put;
  readonly #last;
  readonly #after;
  readonly #records: Records;
  readonly #people: People;
  readonly #links: Links;
  readonly #random: Random;

  constructor({ sql }: Database, records: Records, people: People, links: Links, random: Random) {
    this.#put = sql.prepare('INSERT INTO patch VALUES (?, ?, ?, ?)');
    this.#last = sql.prepare('SELECT max(version) AS version FROM patch WHERE owner = ? AND collection = ?');
    this.#after = sql.prepare(
      'SELECT version, value FROM patch WHERE owner = ? AND collection = ? AND version > ? ORDER BY version LIMIT ?',
    );
    this.#records = records;
    this.#people = people;
    this.#links = links;
    this.#random = random;
  }

  /** The peer message that carries the key of the patches from the phone to a device. Every device gets the same key. */
  keyShare(person: Person): proto.IMessage {
    const key = this.#key(person);
    const keyData = { keyData: key.data, timestamp: Date.now(), fingerprint: { rawId: 1, currentIndex: 1, deviceIndexes: [0, 1] } };
    const type = proto.Message.ProtocolMessage.Type.APP_STATE_SYNC_KEY_SHARE;
    return { protocolMessage: { type, appStateSyncKeyShare: { keys: [{ keyId: { keyId: key.id }, keyData }] } } };
  }

  /** The phone changes a setting: stores one more patch and notifies all devices of the new version. */
  async change(person: Person, setting: Setting): Promise<void> {
    const { id, data } = this.#key(person);
    const keyOf = async () => ({ keyData: data });
    const wanted = patchOf(setting);
    const { number } = person;
    for (;;) {
      const state = await decodeAll(this.#patches(number, wanted.type), wanted.type, keyOf);
      const { patch } = await encodeSyncdPatch(wanted, Buffer.from(id).toString('base64'), state, keyOf);
      // A device may have stored a patch of its own in the meantime; then this one is made again on top of it.
      if (this.#version(number, wanted.type) !== state.version) continue;
      const version = String(this.#store(number, wanted.type, patch));
      this.#notifyDevices(person, [node('collection', { name: wanted.type, version })]);
      return;
    }
  }

  #key(person: Person): SharedKey {
    const saved = this.#records.get<string>('app-state-key', person.number);
    if (saved !== undefined) return decode<SharedKey>(saved);
    const key = { id: this.#random.bytes(6), data: this.#random.bytes(32) };
    this.#records.put('app-state-key', person.number, encode(key));
    return key;
  }

  /** Answers a `<sync>` request and notifies the account's other devices of the collections that it changed. */
  sync(device: Device, sync: BinaryNode): BinaryNode {
    const changed: BinaryNode[] = [];
    const answers = children(sync, 'collection').map((collection) => {
      const name = collection.attrs['name'] ?? '';
      const version = Number(collection.attrs['version'] ?? 0) || 0;
      const patch = bytes(child(collection, 'patch'));
      if (!patch) return this.#answer(device, name, version);
      const current = this.#version(device.number, name);
      if (version !== current) return node('collection', { name, type: 'error' }, [node('error', { code: '409', text: 'conflict' })]);
      const answer = node('collection', { name, version: String(this.#store(device.number, name, proto.SyncdPatch.decode(patch))) });
      changed.push(answer);
      return answer;
    });
    if (changed.length > 0) this.#notifyDevices(this.#people.ensure(device.number), changed, device);
    return node('sync', {}, answers);
  }

  #answer(device: Device, name: string, version: number): BinaryNode {
    const rows = this.#after.all(device.number, name, version, page + 1);
    const patches = rows.slice(0, page).map((row) => node('patch', {}, Buffer.from(row['value'] as Uint8Array)));
    const more = rows.length > page ? 'true' : undefined;
    const attrs = { name, version: String(Math.max(version, this.#version(device.number, name))), has_more_patches: more };
    return patches.length > 0 ? node('collection', attrs, [node('patches', {}, patches)]) : node('collection', attrs);
  }

  /** Returns the new version. */
  #store(number: Digits, name: string, patch: proto.ISyncdPatch): number {
    const version = this.#version(number, name) + 1;
    this.#put.run(number, name, version, proto.SyncdPatch.encode({ ...patch, version: { version } }).finish());
    return version;
  }

  #patches(number: Digits, name: string): proto.SyncdPatch[] {
    return this.#after.all(number, name, 0, -1).map((row) => proto.SyncdPatch.decode(row['value'] as Uint8Array));
  }

  #version(number: Digits, name: string): number {
    return Number(this.#last.get(number, name)?.['version'] ?? 0);
  }

  /** Notifies all devices except the one that made the change. */
  #notifyDevices(person: Person, changed: BinaryNode[], maker?: Device): void {
    const attrs = { from: jidOf(person, 'pn'), type: 'server_sync', id: this.#random.id(), t: unixSeconds(Date.now()) };
    for (const other of this.#people.devices(person.number)) {
      if (other !== maker) this.#links.deliver(other, node('notification', attrs, changed));
    }
  }
}

type KeyOf = (id: string) => Promise<{ keyData: Uint8Array }>;

/** The state after all patches so far. The next patch is computed from it. */
const decodeAll = async (patches: proto.SyncdPatch[], name: WAPatchName, keyOf: KeyOf): Promise<LTHashState> =>
  (await decodePatches(name, patches, newLTHashState(), keyOf, {}, undefined, undefined, true)).state;

/** Turns a number into the jid of the chat with it; leaves a group's jid as it is. */
const chatJid = (chat: string): string => (isGroupJid(chat) ? chat : pnJid(chat));

function patchOf(setting: Setting): WAPatchCreate {
  switch (setting.kind) {
    case 'label': {
      const { labelId: id, name, color, deleted = false } = setting;
      return chatModificationToAppPatch({ addLabel: { id, name, color, deleted } }, '');
    }
    case 'chatLabel': {
      const label = { labelId: setting.labelId };
      return chatModificationToAppPatch(setting.on ? { addChatLabel: label } : { removeChatLabel: label }, chatJid(setting.chat));
    }
    case 'archive':
      return chatModificationToAppPatch({ archive: setting.on, lastMessages: [] }, chatJid(setting.chat));
    case 'read':
      return chatModificationToAppPatch({ markRead: setting.on, lastMessages: [] }, chatJid(setting.chat));
    case 'pin':
      return chatModificationToAppPatch({ pin: setting.on }, chatJid(setting.chat));
    case 'mute':
      return chatModificationToAppPatch({ mute: setting.until || null }, chatJid(setting.chat));
    case 'contact': {
      const { name } = setting;
      const contact =
        name === undefined ? null : { fullName: name, firstName: name.split(' ', 1)[0] ?? name, saveOnPrimaryAddressbook: true };
      return chatModificationToAppPatch({ contact }, pnJid(setting.number));
    }
  }
}
