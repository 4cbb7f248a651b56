/**
 * The library stores the seeds of skipped group messages as Node writes buffers in JSON, with a list of numbers, but revives buffers only from base64.
 * A group message that arrives after a later one could then not be read. Here the stored value gets the form that is revived.
 */
import { BufferJSON } from '@whiskeysockets/baileys';

const skippedMessages = '"senderMessageKeys":[{';

export const withRevivableSeeds = (stored: Uint8Array): Uint8Array => {
  const text = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  if (!text.includes(skippedMessages)) return stored;
  return Buffer.from(JSON.stringify(JSON.parse(text.toString(), BufferJSON.reviver), BufferJSON.replacer));
};
