/** Messages of clients to channels: posts, changes of posts, and reactions, each in the form that the platform accepts. */
import { getContentType, proto } from '@whiskeysockets/baileys';
import type { Channel } from '../channels/channels.ts';
import { edit, publish, react, revoke } from '../channels/posts.ts';
import { mediaOf, stanzaKind } from '../content.ts';
import { SandboxError } from '../interface.ts';
import { handleOf } from '../media.ts';
import { bytes, child, children, type BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device } from '../people.ts';
import type { Post } from '../store/messages.ts';

/** The kinds of content that channels accept. */
const kinds: ReadonlySet<string | undefined> = new Set([
  'conversation',
  'extendedTextMessage',
  'imageMessage',
  'videoMessage',
  'audioMessage',
  'documentMessage',
  'stickerMessage',
  'pollCreationMessage',
  'pollCreationMessageV2',
  'pollCreationMessageV3',
]);

/** Makes the error for a stanza that the platform does not understand. */
const malformed = (): SandboxError => new SandboxError(479, 'malformed');

function contentOf(stanza: BinaryNode): proto.IMessage {
  const written = bytes(child(stanza, 'plaintext'));
  if (!written?.length || children(stanza, 'enc').length > 0) throw malformed();
  try {
    return proto.Message.decode(written);
  } catch {
    throw malformed();
  }
}

/** Checks that channels accept the content, and that the attributes of the stanza fit: the type, the media type, and for a file the handle of its upload. */
function checkPost(stanza: BinaryNode, content: proto.IMessage, isEdit: boolean): void {
  const { type, mediatype } = stanzaKind(content);
  const { attrs } = stanza;
  const isPoll = child(stanza, 'meta')?.attrs['polltype'] === 'creation';
  if (!kinds.has(getContentType(content)) || content.messageContextInfo?.messageSecret?.length) throw malformed();
  if (attrs['type'] !== type || child(stanza, 'plaintext')?.attrs['mediatype'] !== mediatype) throw malformed();
  if (isPoll !== (type === 'poll')) throw malformed();
  const file = mediaOf(content);
  if (!file) return;
  const handle = handleOf(file.directPath ?? '');
  if (file.mediaKey?.length || handle === undefined) throw malformed();
  if (attrs['media_id'] !== handle && !(isEdit && attrs['media_id'] === undefined)) throw malformed();
}

function reacted(parts: Parts, channel: Channel, device: Device, stanza: BinaryNode): Post {
  const { server_id: serverId = '', edit: mark } = stanza.attrs;
  const { code = '' } = child(stanza, 'reaction')?.attrs ?? {};
  if (!/^\d+$/.test(serverId) || (code === '') !== (mark === '7')) throw malformed();
  return react(parts, channel, device.number, Number(serverId), code);
}

/** Handles the message. Throws a `SandboxError` whose status is the code of the refusal. */
function accept(parts: Parts, channel: Channel, device: Device, stanza: BinaryNode): Post {
  const { id = '', edit: mark } = stanza.attrs;
  if (child(stanza, 'reaction')) return reacted(parts, channel, device, stanza);
  if (mark === '8') {
    if (bytes(child(stanza, 'plaintext'))?.length) throw malformed();
    return revoke(parts, channel, device, id);
  }
  if (mark !== undefined && mark !== '3') throw malformed();
  const content = contentOf(stanza);
  checkPost(stanza, content, mark === '3');
  return mark === '3' ? edit(parts, channel, device, id, content) : publish(parts, channel, device, { id, content });
}

/** Returns the fields of the ack: the number of the post, or the code of the refusal. */
export function acceptPost(parts: Parts, device: Device, stanza: BinaryNode): Readonly<Record<string, string>> {
  try {
    const post = accept(parts, parts.channels.get(stanza.attrs['to'] ?? ''), device, stanza);
    return { server_id: String(post.serverId) };
  } catch (error) {
    if (error instanceof SandboxError) return { error: String(error.status) };
    throw error;
  }
}
