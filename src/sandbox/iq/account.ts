/** Requests about the account itself: going live, settings, privacy, media host, unlinking, pictures and pre-keys. */
import { createHash } from 'node:crypto';
import { Curve } from '@whiskeysockets/baileys';
import { changePrivacy, keepPicture, maySee, setBlocked, setPicture } from '../account.ts';
import { deviceKey, isGroupJid, jidOf } from '../address.ts';
import { afterAnswer, goLive, unlink } from '../device-life.ts';
import { SandboxError } from '../interface.ts';
import { rankOf } from '../groups.ts';
import { previewOf } from '../media.ts';
import { type BinaryNode, bytes, child, childBytes, childNumber, children, node, text, uint, unixSeconds } from '../nodes.ts';
import type { Picture } from '../people.ts';
import { type Bundle, bundleNodes, readPreKeys, readSignedPreKey, verify, withType } from '../signal/identity.ts';
import { statusPrivacy } from '../status-posts.ts';
import { type Answer, type DeviceQueries, type DeviceQuery, Silence } from './query.ts';

// Requests about the account itself: going live, settings, privacy, media host, unlinking.

const items = (tag: string, values: Readonly<Record<string, string>>): BinaryNode[] =>
  Object.entries(values).map(([name, value]) => node(tag, { name, value }));

/** Largest number of privacy tokens in one request. */
const maxTokens = 100;

const nothing = (): undefined => undefined;

export const accountQueries: DeviceQueries = {
  'passive/set/active': ({ parts, connection, device }) => {
    afterAnswer(parts, () => goLive(parts, connection, device));
    return undefined;
  },
  'passive/set/passive': nothing,
  'abt/get/props': () => [node('props', { protocol: '1', hash: 'h1', refresh: '86400' })],
  'urn:xmpp:whatsapp:dirty/set/clean': nothing,
  'w:stats/get/add': nothing,
  'w:stats/set/add': nothing,

  'blocklist/get/': ({ parts, device }) => {
    const { blocked } = parts.people.ensure(device.number);
    return [
      node(
        'list',
        {},
        blocked.map((number) => node('item', { jid: jidOf(parts.people.ensure(number), 'lid') })),
      ),
    ];
  },
  // Requests name people by LID. A request to block a person also contains the number.
  'blocklist/set/item': ({ parts, device, request }) => {
    const { action, jid = '', pn_jid: pn } = request?.attrs ?? {};
    const other = jid.endsWith('@lid') ? parts.people.resolve(jid)?.person : undefined;
    const isBlock = action === 'block';
    if (!other || (!isBlock && action !== 'unblock')) throw new SandboxError(400, 'bad-request');
    if (isBlock && parts.people.resolve(pn)?.person !== other) throw new SandboxError(400, 'bad-request');
    const person = parts.people.ensure(device.number);
    const others = person.blocked.filter((number) => number !== other.number);
    setBlocked(parts, person, isBlock ? [...others, other.number] : others, device);
    return [node('list', { dhash: String(person.blocked.length) })];
  },

  'privacy/get/privacy': ({ parts, device }) => [node('privacy', {}, items('category', parts.people.ensure(device.number).privacy))],
  'privacy/set/privacy': ({ parts, device, request }) => {
    const person = parts.people.ensure(device.number);
    const named = children(request, 'category').slice(0, 20);
    changePrivacy(parts, person, Object.fromEntries(named.map(({ attrs }) => [attrs['name'] ?? '', attrs['value'] ?? ''])), device);
    return [node('privacy', {}, items('category', person.privacy))];
  },
  'privacy/set/tokens': ({ parts, device, request }) => {
    const owner = parts.people.ensure(device.number);
    for (const { attrs } of children(request, 'token').slice(0, maxTokens)) {
      const contact = parts.people.resolve(attrs['jid'])?.person;
      if (attrs['type'] !== 'trusted_contact' || !contact || contact === owner) throw new SandboxError(400, 'bad-request');
      parts.tokens.issue(owner, contact, Number(attrs['t']) * 1000 || Date.now());
    }
    return undefined;
  },
  'disappearing_mode/set/disappearing_mode': ({ parts, device, request }) => {
    const person = parts.people.ensure(device.number);
    const seconds = Number(request?.attrs['duration'] ?? 0);
    if (!Number.isInteger(seconds) || seconds < 0) throw new SandboxError(400, 'bad-request');
    person.disappearing = seconds;
    parts.people.save(person);
    return undefined;
  },
  'status/get/privacy': ({ parts, device }) => [statusPrivacy(parts.people, parts.people.ensure(device.number))],
  // Since 2026-08-06 the platform confirms a request in the old form but does not apply it (tulir/whatsmeow 662b0121, WhiskeySockets/Baileys 2503).
  'status/set/status': ({ parts, device, request }) => {
    if (parts.versions.newForms) return undefined;
    const person = parts.people.ensure(device.number);
    person.about = (text(request) ?? '').slice(0, 500);
    parts.people.save(person);
    return undefined;
  },

  'bot/get/bot': () => [node('bot', { v: '2' }, [node('section', { type: 'all' })])],

  'w:sync:app:state/set/sync': ({ parts, device, request }) => (request ? [parts.appState.sync(device, request)] : undefined),

  'w:m/set/media_conn': ({ parts }) => {
    const attrs = { auth: parts.rights.auth, ttl: '300', auth_ttl: '21600', max_buckets: '12' };
    const [first, second] = parts.media.hosts;
    const hosts = [
      { hostname: first, type: 'primary', fallback_hostname: second, maxContentLengthBytes: '104857600' },
      { hostname: second, type: 'fallback', maxContentLengthBytes: '104857600' },
    ];
    return [
      node(
        'media_conn',
        attrs,
        hosts.map((host) => node('host', host)),
      ),
    ];
  },

  'md/set/remove-companion-device': ({ parts, device, request }) => {
    const named = parts.people.resolve(request?.attrs['jid']);
    const target = named && named.person.number === device.number ? parts.people.device(device.number, named.device) : device;
    if (target) afterAnswer(parts, () => unlink(parts, target));
    return undefined;
  },
};

// Requests about profile pictures of people and groups. The pictures are unencrypted files on the media host.

/** Returns the picture of the target, or the account's own picture if the request has no target. */
function pictureOf({ parts, device, stanza }: DeviceQuery): Picture | undefined {
  const target = stanza.attrs['target'];
  if (target === undefined) return parts.people.ensure(device.number).picture;
  if (isGroupJid(target)) return parts.groups.find(target)?.picture;
  const person = parts.people.resolve(target)?.person;
  if (person && !maySee(parts, person, parts.people.ensure(device.number), 'profile')) throw new SandboxError(401, 'not-authorized');
  return person?.picture;
}

/** Sets the picture of the account or of a group. An empty request removes the picture. */
function change(query: DeviceQuery): Answer {
  const { parts, device, stanza, request } = query;
  const target = stanza.attrs['target'];
  const me = parts.people.ensure(device.number);
  const picture = keepPicture(parts, bytes(request));
  if (target !== undefined && isGroupJid(target)) {
    const group = parts.groups.get(target);
    const rank = rankOf(group, me.number);
    if (rank === undefined || (group.locked && rank === null)) throw new SandboxError(403, 'forbidden');
    group.picture = picture;
    const author = jidOf(me, group.addressing);
    parts.groups.announceChange(group, me, picture ? node('set', { id: picture.id, author }) : node('delete', { author }), 'picture');
  } else {
    if (target !== undefined && parts.people.resolve(target)?.person !== me) throw new SandboxError(403, 'forbidden');
    setPicture(parts, me, picture);
  }
  return picture && [node('picture', { id: picture.id })];
}

export const pictureQueries: DeviceQueries = {
  'w:profile:picture/get/picture': (query) => {
    const { parts, device } = query;
    parts.counters.pictures += 1;
    if (parts.faults.take('pictureSilence', device.number)) throw new Silence();
    const picture = pictureOf(query);
    if (!picture) throw new SandboxError(404, 'item-not-found');
    const type = query.request?.attrs['type'] ?? 'preview';
    const path = type === 'image' ? picture.path : previewOf(picture.path);
    return [node('picture', { id: picture.id, type, url: query.parts.media.url(path), direct_path: path })];
  },
  'w:profile:picture/set/picture': change,
  'w:profile:picture/set/': change,
};

// Requests about pre-keys: their count, uploads, and the bundles from which sessions start.

/** Largest number of `<user>` elements in a request for key bundles. */
const maxBundles = 5000;

/** Stores a signed pre-key. Throws if the device did not sign it. */
function acceptSignedPreKey({ parts, device }: DeviceQuery, skey: ReturnType<typeof readSignedPreKey>): void {
  if (!skey) throw new SandboxError(406, 'not-acceptable');
  const known = device.signedPreKey.id === skey.id && Buffer.from(device.signedPreKey.value).equals(skey.value);
  if (known) return;
  if (!parts.counters.signature(verify(device.identity, withType(skey.value), skey.signature)))
    throw new SandboxError(406, 'not-acceptable');
  device.signedPreKey = skey;
  parts.people.saveDevice(device);
}

/** Replaces the signed pre-key and keeps its signature, which is then wrong. */
const forge = (bundle: Bundle): Bundle => ({ ...bundle, signedPreKey: { ...bundle.signedPreKey, value: Curve.generateKeyPair().public } });

export const keyQueries: DeviceQueries = {
  'encrypt/get/count': ({ parts, device }) => {
    const value = String(parts.keys.countPreKeys(deviceKey(device.number, device.device)));
    return [node('count', { value })];
  },

  'encrypt/set/registration': (query) => {
    const { parts, device, stanza } = query;
    const identity = childBytes(stanza, 'identity', 32);
    const registrationId = childNumber(stanza, 'registration', 4);
    if (!identity?.equals(device.identity) || registrationId !== device.registrationId) throw new SandboxError(406, 'not-acceptable');
    acceptSignedPreKey(query, readSignedPreKey(stanza));
    parts.keys.addPreKeys(deviceKey(device.number, device.device), readPreKeys(child(stanza, 'list')));
    return undefined;
  },

  'encrypt/set/rotate': (query) => {
    acceptSignedPreKey(query, readSignedPreKey(query.request));
    return undefined;
  },

  // The list and the hash have the form that vinikjkkj/zapo checks (`src/signal/api/SignalDigestSyncApi.ts`).
  'encrypt/get/digest': ({ parts, device }) => {
    const { registrationId, identity, signedPreKey } = device;
    const preKeys = parts.keys.preKeys(deviceKey(device.number, device.device));
    const hash = createHash('sha1');
    for (const part of [identity, signedPreKey.value, signedPreKey.signature, ...preKeys.map(({ value }) => value)]) hash.update(part);
    const ids = preKeys.map(({ id }) => node('id', {}, uint(id, 3)));
    const bundle = bundleNodes({ registrationId, identity, signedPreKey });
    return [node('digest', {}, [...bundle, node('list', {}, ids), node('hash', {}, hash.digest())])];
  },

  // Keys of single devices (vinikjkkj/zapo `src/transport/node/builders/prekeys.ts`, `buildMissingPreKeysFetchIq`).
  'encrypt/get/key_fetch': ({ parts, request }) => {
    const users = children(request, 'user')
      .slice(0, maxBundles)
      .map((user) => {
        const { jid } = user.attrs;
        const person = parts.people.resolve(jid)?.person;
        if (!person) return node('user', { jid }, [node('error', { code: '404', text: 'item-not-found' })]);
        const devices = children(user, 'device').flatMap(({ attrs: { id } }) => {
          const bundle = parts.bundles.of(person, Number(id));
          return bundle ? [node('device', { id }, bundleNodes(bundle))] : [];
        });
        return node('user', { jid }, devices);
      });
    return [node('list', {}, users)];
  },

  'encrypt/get/key': ({ parts, device, request }) => {
    const t = unixSeconds(Date.now());
    const users = children(request, 'user')
      .slice(0, maxBundles)
      .flatMap(({ attrs: { jid } }) => {
        const found = parts.people.resolve(jid);
        const bundle = found && parts.bundles.of(found.person, found.device);
        if (!bundle) return [];
        const forged = found.person.number !== device.number && parts.faults.take('forgedKeys', device.number, found.person.number);
        return [node('user', { jid, t }, bundleNodes(forged ? forge(bundle) : bundle))];
      });
    return [node('list', {}, users)];
  },
};
