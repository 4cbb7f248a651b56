/** Requests about profile pictures of people and groups. The pictures are unencrypted files on the media host. */
import { isGroupJid, jidOf } from '../address.ts';
import { SandboxError } from '../face.ts';
import { rankOf } from '../groups.ts';
import { bytes, node } from '../nodes.ts';
import type { Picture } from '../people.ts';
import type { Answer, DeviceQueries, DeviceQuery } from './query.ts';

const maxPicture = 1024 * 1024;

/** The picture of the target; without a target the account's own. */
function pictureOf({ parts, device, stanza }: DeviceQuery): Picture | undefined {
  const target = stanza.attrs['target'];
  if (target === undefined) return parts.people.ensure(device.number).picture;
  return isGroupJid(target) ? parts.groups.find(target)?.picture : parts.people.resolve(target)?.person.picture;
}

/** Sets a picture. An empty request removes it. */
function change(query: DeviceQuery): Answer {
  const { parts, device, stanza, request } = query;
  const target = stanza.attrs['target'];
  const me = parts.people.ensure(device.number);
  const file = bytes(request);
  if (file && file.length > maxPicture) throw new SandboxError(413, 'picture: too large');
  const picture = file?.length ? { id: String(parts.random.bytes(4).readUInt32BE(0)), path: parts.media.keepNow(file) } : undefined;
  if (target !== undefined && isGroupJid(target)) {
    const group = parts.groups.get(target);
    const rank = rankOf(group, me.number);
    if (rank === undefined || (group.locked && rank === null)) throw new SandboxError(403, 'forbidden');
    group.picture = picture;
    const author = jidOf(me, group.addressing);
    parts.groups.announceChange(group, me, picture ? node('set', { id: picture.id, author }) : node('delete', { author }), 'picture');
  } else {
    me.picture = picture;
    parts.people.save(me);
  }
  return picture && [node('picture', { id: picture.id })];
}

export const pictureQueries: DeviceQueries = {
  'w:profile:picture/get/picture': (query) => {
    const picture = pictureOf(query);
    if (!picture) throw new SandboxError(404, 'item-not-found');
    const type = query.request?.attrs['type'] ?? 'preview';
    return [node('picture', { id: picture.id, type, url: query.parts.media.url(picture.path), direct_path: picture.path })];
  },
  'w:profile:picture/set/picture': change,
  'w:profile:picture/set/': change,
};
