/** Requests of clients about posts of channels: lists of posts, of their counts, and live updates. */
import { isChannelJid } from '../address.ts';
import type { Channel } from '../channels/channels.ts';
import { listed, liveSeconds } from '../channels/posts.ts';
import { SandboxError } from '../interface.ts';
import { node } from '../nodes.ts';
import type { Post } from '../store/messages.ts';
import type { DeviceQueries, DeviceQuery } from './query.ts';

/** Largest number of posts in one list. */
const mostListed = 300;
const highest = 2_147_483_647;

function channelOf({ parts }: DeviceQuery, jid: string): Channel {
  if (!isChannelJid(jid)) throw new SandboxError(400, 'bad-request');
  return parts.channels.get(jid);
}

/** Returns the non-negative integer in an attribute; `missing` if the attribute is absent. Throws if the attribute is not such a number. */
function numberOf(text: string | undefined, missing: number): number {
  const number = text === undefined ? missing : Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new SandboxError(400, 'bad-request');
  return number;
}

const countOf = ({ request }: DeviceQuery): number => Math.min(numberOf(request?.attrs['count'], 100), mostListed);

const list = ({ parts, device }: DeviceQuery, { jid }: Channel, posts: readonly Post[], what: 'whole' | 'counts') =>
  node(
    'messages',
    { jid },
    posts.map((post) => listed(parts, post, device.number, what)),
  );

export const postQueries: DeviceQueries = {
  'newsletter/get/messages': (query) => {
    const { parts, request } = query;
    const { type, jid = '', before, after } = request?.attrs ?? {};
    if (type !== 'jid') throw new SandboxError(400, 'bad-request');
    const channel = channelOf(query, jid);
    parts.counters.channels.posts += 1;
    const posts =
      after === undefined
        ? parts.posts.before(channel.jid, numberOf(before, highest), countOf(query))
        : parts.posts.after(channel.jid, numberOf(after, 0), 0, countOf(query));
    return [list(query, channel, posts, 'whole')];
  },

  'newsletter/get/message_updates': (query) => {
    const { parts, request, stanza } = query;
    const channel = channelOf(query, stanza.attrs['to'] ?? '');
    const { before, after, since } = request?.attrs ?? {};
    const posts =
      before === undefined && after === undefined && since === undefined
        ? parts.posts.before(channel.jid, highest, countOf(query))
        : before === undefined
          ? parts.posts.after(channel.jid, numberOf(after, 0), numberOf(since, 0) * 1000, countOf(query))
          : parts.posts.before(channel.jid, numberOf(before, highest), countOf(query));
    return [node('message_updates', {}, [list(query, channel, posts, 'counts')])];
  },

  'newsletter/set/live_updates': (query) => {
    const channel = channelOf(query, query.stanza.attrs['to'] ?? '');
    query.parts.liveUpdates.subscribe(channel.jid, query.device, liveSeconds);
    return [node('live_updates', { duration: String(liveSeconds) })];
  },
};
