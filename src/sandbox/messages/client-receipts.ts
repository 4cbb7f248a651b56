/** Receipts that clients send. A receipt deletes the stored stanza, is forwarded to the author of the message, or asks for the message or its file again. */
import { aesDecryptGCM, aesEncryptGCM, hkdf, proto } from '@whiskeysockets/baileys';
import { type Addressing, isChannelJid, isGroupOrStatus, jidOf } from '../address.ts';
import { view } from '../channels/posts.ts';
import { mediaOf } from '../content.ts';
import { type BinaryNode, child, childBytes, children, firstChild, node, unixSeconds } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device, Person } from '../people.ts';
import { readRetryBundle } from '../signal/identity.ts';
import type { Connection } from '../wire/connection.ts';
import { keyOfDevice } from './inbox.ts';
import type { ReceiptKind } from './receipts.ts';

// Media retry: a client could not download a file and requests a new path from its phone.

async function resendMedia(parts: Parts, device: Device, stanza: BinaryNode): Promise<void> {
  const id = stanza.attrs['id'] ?? '';
  const person = parts.people.ensure(device.number);
  if (parts.faults.take('mediaSilence', person.number)) return;
  const request = child(stanza, 'rmr');
  const content = parts.messages.find(person.number, id)?.content;
  const part = content && mediaOf(content);
  const attrs = { from: jidOf(person, 'pn'), type: 'mediaretry', id, t: unixSeconds(Date.now()) };
  const place = node('rmr', request?.attrs ?? {});
  const fault = parts.faults.take('mediaRefused', person.number);
  const answer = part?.mediaKey && !fault ? await sealAnswer(parts, id, part.mediaKey, part.directPath ?? '', stanza) : undefined;
  parts.connections.deliver(device, node('notification', attrs, [place, answer ?? node('error', { code: String(fault?.code ?? 2) })]));
}

/** Returns the encrypted answer; `undefined` if the request was not encrypted with the file's key, or the file does not exist. */
async function sealAnswer(
  parts: Parts,
  id: string,
  mediaKey: Uint8Array,
  directPath: string,
  stanza: BinaryNode,
): Promise<BinaryNode | undefined> {
  const key = hkdf(Buffer.from(mediaKey), 32, { info: 'WhatsApp Media Retry Notification' });
  const encrypted = child(stanza, 'encrypt');
  const sealed = childBytes(encrypted, 'enc_p');
  const nonce = childBytes(encrypted, 'enc_iv', 12);
  const file = parts.media.locate(directPath);
  if (!sealed || !nonce || !file || (await parts.media.size(file)) === undefined) return undefined;
  try {
    aesDecryptGCM(sealed, key, nonce, Buffer.from(id));
  } catch {
    // The request is not authentic. The caller answers with an error.
    return undefined;
  }
  const result = proto.MediaRetryNotification.ResultType.SUCCESS;
  const again = parts.media.again(directPath);
  const plain = proto.MediaRetryNotification.encode({ stanzaId: id, directPath: again, result }).finish();
  const iv = parts.random.bytes(12);
  return node('encrypt', {}, [node('enc_p', {}, aesEncryptGCM(plain, key, iv, Buffer.from(id))), node('enc_iv', {}, iv)]);
}

/** The types of receipts that are forwarded to the author. The platform forwards no other types. */
const passedOn: Readonly<Record<string, ReceiptKind>> = { '': 'delivered', inactive: 'delivered', read: 'read', played: 'played' };

const maxIds = 1000;

export async function acceptReceipt(parts: Parts, connection: Connection, device: Device, stanza: BinaryNode): Promise<void> {
  const { id, to, type, participant } = stanza.attrs;
  const ids = [id ?? '', ...children(firstChild(stanza), 'item').map((item) => item.attrs['id'] ?? '')].slice(0, maxIds);
  for (const one of ids) parts.connections.settle(keyOfDevice(device), `message ${one}`);
  const kind = passedOn[type ?? ''];
  if (isChannelJid(to ?? '')) acceptOfChannel(parts, device, stanza);
  else if (type === 'retry') await resend(parts, connection, device, stanza);
  else if (type === 'server-error') await resendMedia(parts, device, stanza);
  else if (kind) pass(parts, device, stanza, ids, kind);
  if (type === 'read' || type === 'read-self' || type === 'played') readOnPhone(parts, device, ids, type === 'played' ? 'played' : 'read');
  connection.send(node('ack', { class: 'receipt', id, from: to, participant, type, t: unixSeconds(Date.now()) }));
}

/** Handles receipts for posts of a channel. A `view` receipt counts views, and a `read-self` receipt has no effect here. Channels get no other receipts. */
function acceptOfChannel(parts: Parts, device: Device, stanza: BinaryNode): void {
  const { type = '' } = stanza.attrs;
  if (type === 'read-self') return;
  if (type !== 'view') return parts.counters.unknown(`receipt/${type}@newsletter`);
  const channel = parts.channels.find(stanza.attrs['to'] ?? '');
  const items = children(child(stanza, 'list'), 'item').slice(0, maxIds);
  const serverIds = items.map(({ attrs }) => Number(attrs['server_id']));
  if (channel) view(parts, channel, device.number, serverIds);
}

/** Returns the author of the message in a receipt, with the device that sent the message. */
function authorOf(
  parts: Parts,
  stanza: BinaryNode,
): { person: Person; device: number; addressing: Addressing; group: string | undefined } | undefined {
  const to = stanza.attrs['to'] ?? '';
  const group = isGroupOrStatus(to) ? to : undefined;
  const jid = group === undefined ? to : stanza.attrs['participant'];
  const author = parts.people.resolve(jid);
  return author && { ...author, addressing: jid?.endsWith('@lid') ? 'lid' : 'pn', group };
}

function pass(parts: Parts, device: Device, stanza: BinaryNode, ids: readonly string[], kind: ReceiptKind): void {
  const author = authorOf(parts, stanza);
  const reader = parts.people.ensure(device.number);
  if (!author || author.person === reader) return;
  parts.db.atomically(() => {
    for (const id of ids) parts.receipts.give(reader, author.person, id, kind, author);
  });
}

/** Marks messages as read on the phone. The phone and its linked devices share read marks, even if no other person gets a receipt. */
function readOnPhone(parts: Parts, device: Device, ids: readonly string[], kind: ReceiptKind): void {
  for (const id of ids) {
    const stored = parts.messages.find(device.number, id);
    if (stored && stored.author !== '' && stored.confirmed !== 'played') parts.messages.confirm(stored, kind);
  }
}

/**
 * Handles a retry receipt. If a phone sent the message, that phone encrypts the message again. If a linked device sent the message, that device gets the
 * receipt.
 */
async function resend(parts: Parts, connection: Connection, device: Device, stanza: BinaryNode): Promise<void> {
  parts.counters.messages.retryReceipts += 1;
  const author = authorOf(parts, stanza);
  const id = stanza.attrs['id'] ?? '';
  if (!author) return;
  if (connection.retried.size < maxIds) connection.retried.add(id);
  const retry = child(stanza, 'retry');
  if (author.device === 0) {
    const count = Math.min(Number(retry?.attrs['count'] ?? 1) || 1, 10);
    await parts.outbox.sendAgain(author.person, device, id, count, readRetryBundle(stanza));
    return;
  }
  const linked = parts.people.device(author.person.number, author.device);
  if (!linked) return;
  const asker = parts.people.ensure(device.number);
  const jid = `${author.addressing === 'lid' ? asker.lid : asker.number}:${device.device}@${author.addressing === 'lid' ? 'lid' : 's.whatsapp.net'}`;
  const attrs = {
    from: author.group ?? jid,
    participant: author.group === undefined ? undefined : jid,
    recipient: stanza.attrs['recipient'],
    id,
    type: 'retry',
    t: unixSeconds(Date.now()),
  };
  parts.connections.deliver(linked, node('receipt', attrs, stanza.content));
}
