/** Media retry: a client could not download a file and asks its phone, which answers with the file's path. */
import { aesDecryptGCM, aesEncryptGCM, hkdf, proto } from '@whiskeysockets/baileys';
import { jidOf } from '../address.ts';
import { mediaOf } from '../content.ts';
import { child, childBytes, node, unixSeconds, type BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Device } from '../people.ts';

export async function resendMedia(parts: Parts, device: Device, stanza: BinaryNode): Promise<void> {
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
  parts.links.deliver(device, node('notification', attrs, [place, answer ?? node('error', { code: String(fault?.code ?? 2) })]));
}

/** The encrypted answer; `undefined` when the request was not encrypted with the file's key, or the file does not exist. */
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
