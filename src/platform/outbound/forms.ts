/**
 * Contents that are sent in another form than the library takes. The library names the kind of media beside the encrypted content, and reads it from the
 * form that it gets. It does not know round videos and view-once media. Phones drop such media without the name. So the library gets a plain picture, video
 * or audio, and asks for the final form right before it encrypts.
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

/** Returns the form of a content for the library. Each call makes a new object if the forms differ. */
export const givenForm = (content: Content): Content => {
  const plain = plainOf(content);
  if (plain === null) return content;
  finalForms.set(plain, content);
  return plain;
};

/** Returns the form that is encrypted in place of the library's form: for receivers, and inside the copy for the account's own devices. */
export const finalForm = (given: Content): Content => {
  const copied = given.deviceSentMessage?.message;
  const form = finalForms.get(copied ?? given);
  if (form === undefined) return given;
  return copied ? { ...given, deviceSentMessage: { ...given.deviceSentMessage, message: form } } : form;
};
