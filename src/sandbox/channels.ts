/** Channels: their posts reach the followers without encryption. */
import { proto } from '@whiskeysockets/baileys';
import { stanzaKind } from './content.ts';
import { SandboxError, type Sandbox } from './face.ts';
import { compose } from './messages/compose.ts';
import { node, unixSeconds } from './nodes.ts';
import type { Parts } from './parts.ts';

const channelJid = /^\d{5,25}@newsletter$/;

export async function postToChannel(parts: Parts, channel: string, input: Parameters<Sandbox['post']>[1]): Promise<string> {
  if (!channelJid.test(channel)) throw new SandboxError(400, `not a channel: ${channel.slice(0, 60)}`);
  const followers = input.followers.map((number) => parts.people.ensure(number));
  const [first] = followers;
  if (!first) throw new SandboxError(400, 'followers: nobody reads this channel');
  // The composer needs a sender, but a post has the same content for every follower: any of them will do.
  const { message } = await compose(first, { chat: channel, addressing: 'pn', group: false }, input.content, parts);
  const id = parts.random.messageId();
  const { type, mediatype } = stanzaKind(message);
  const serverId = String(100 + (parts.random.bytes(2).readUInt16BE(0) % 900));
  const attrs = { from: channel, id, server_id: serverId, t: unixSeconds(Date.now()), type };
  const stanza = node('message', attrs, [node('plaintext', { mediatype }, proto.Message.encode(message).finish())]);
  for (const { number } of followers) for (const device of parts.people.devices(number)) parts.links.deliver(device, stanza);
  return id;
}
