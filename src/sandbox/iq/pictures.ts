/** Requests about profile pictures of people and groups. The pictures are unencrypted files on the media host. */
import { isGroupJid, jidOf } from '../address.ts';
import { keepPicture, setPicture } from '../account.ts';
import { SandboxError } from '../face.ts';
import { rankOf } from '../groups.ts';
import { bytes, node } from '../nodes.ts';
import { previewOf } from '../previews.ts';
import type { Picture } from '../people.ts';
import { maySee } from '../privacy.ts';
import { Silence, type Answer, type DeviceQueries, type DeviceQuery } from './query.ts';

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
