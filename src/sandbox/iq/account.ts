/** Requests about the account itself: going live, settings, privacy, media host, unlinking. */
import { changePrivacy, keepPicture, maySee, setBlocked, setPicture } from '../account.ts';
import { isGroupJid, jidOf } from '../address.ts';
import { afterAnswer, goLive, unlink } from '../device-life.ts';
import { SandboxError } from '../face.ts';
import { rankOf } from '../groups.ts';
import { type BinaryNode, bytes, children, node, text } from '../nodes.ts';
import type { Picture } from '../people.ts';
import { previewOf } from '../media.ts';
import { statusPrivacy } from '../status-posts.ts';
import { type Answer, type DeviceQueries, type DeviceQuery, Silence } from './query.ts';

const items = (tag: string, values: Readonly<Record<string, string>>): BinaryNode[] =>
  Object.entries(values).map(([name, value]) => node(tag, { name, value }));

/** Privacy tokens in one request at most. */
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
  // People are named by their LID, and blocked with their number beside it.
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
  // Since 2026-08-06 the old form is answered and changes nothing (tulir/whatsmeow 662b0121, WhiskeySockets/Baileys 2503).
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

/** The picture of the target; without a target the account's own. */
function pictureOf({ parts, device, stanza }: DeviceQuery): Picture | undefined {
  const target = stanza.attrs['target'];
  if (target === undefined) return parts.people.ensure(device.number).picture;
  if (isGroupJid(target)) return parts.groups.find(target)?.picture;
  const person = parts.people.resolve(target)?.person;
  if (person && !maySee(parts, person, parts.people.ensure(device.number), 'profile')) throw new SandboxError(401, 'not-authorized');
  return person?.picture;
}

/** Sets a picture. An empty request removes it. */
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
