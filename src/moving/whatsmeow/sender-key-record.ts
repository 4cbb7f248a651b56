/** Sender keys of whatsmeow as records of the client library. Everything of them converts. */
import { BufferJSON } from '@whiskeysockets/baileys';
import {
  bytesOf,
  type GoObject,
  listOf,
  numberOf,
  objectOf,
  parseRecord,
  privateLength,
  publicLength,
  secretLength,
} from './signal-json.ts';

/** Returns the private half of a signing key. Keys of others have none: whatsmeow writes null at first, and zeros after it has read the record. */
const privateOf = (value: unknown): Buffer => {
  if (value === null || value === undefined || value === '') return Buffer.alloc(0);
  const bytes = bytesOf(value, privateLength);
  return bytes.every((byte) => byte === 0) ? Buffer.alloc(0) : bytes;
};

const stateOf = (state: GoObject) => {
  const chain = objectOf(state['SenderChainKey']);
  return {
    senderKeyId: numberOf(state['KeyID']),
    senderChainKey: { iteration: numberOf(chain['Iteration']), seed: bytesOf(chain['ChainKey'], secretLength) },
    senderSigningKey: { public: bytesOf(state['SigningKeyPublic'], publicLength), private: privateOf(state['SigningKeyPrivate']) },
    senderMessageKeys: listOf(state['Keys']).map((key) => ({
      iteration: numberOf(key['Iteration']),
      seed: bytesOf(key['Seed'], secretLength),
    })),
  };
};

/** Converts a record to JSON text in a Buffer, as the library stores it. Returns null for a record without any key. Throws `UnreadableRecord`. */
export const senderKeyOf = (record: Uint8Array): Buffer | null => {
  // whatsmeow keeps the newest key first, the library keeps it last.
  const states = listOf(parseRecord(record)['SenderKeyStates']).map(stateOf).toReversed();
  return states.length === 0 ? null : Buffer.from(JSON.stringify(states, BufferJSON.replacer));
};
