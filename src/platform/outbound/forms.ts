/**
 * Contents that travel in another form than the library has to be given. It says beside the encrypted content what kind of media that is, reads
 * the kind from the form that it is given, and does not know round videos and what may be viewed once: without the word, phones drop them. It is
 * therefore given a plain picture, video or audio, and asks right before it encrypts what to put in its place.
 */
import type { proto } from '@whiskeysockets/baileys';

type Content = proto.IMessage;

/** The content that travels, by the one that the library was given. */
const finalForms = new WeakMap<Content, Content>();

const plainOf = (content: Content): Content | null => {
  const { viewOnceMessageV2, viewOnceMessageV2Extension, ptvMessage, ...rest } = content;
  const inner = viewOnceMessageV2?.message ?? viewOnceMessageV2Extension?.message;
  if (inner) return { ...rest, ...inner };
  return ptvMessage ? { ...rest, videoMessage: ptvMessage } : null;
};

/** What the library is given for a content; each call makes a new one where the forms differ. */
export const givenForm = (content: Content): Content => {
  const plain = plainOf(content);
  if (plain === null) return content;
  finalForms.set(plain, content);
  return plain;
};

/** What is encrypted in place of what the library was given: for receivers, and inside the copy for the account's own devices. */
export const finalForm = (given: Content): Content => {
  const copied = given.deviceSentMessage?.message;
  const form = finalForms.get(copied ?? given);
  if (form === undefined) return given;
  return copied ? { ...given, deviceSentMessage: { ...given.deviceSentMessage, message: form } } : form;
};
