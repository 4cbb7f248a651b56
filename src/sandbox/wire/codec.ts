/** Encoding and decoding of nodes. Baileys' own decoder is asynchronous and inflates without a limit; this one is synchronous and has a limit. */
import { inflateSync } from 'node:zlib';
import { decodeDecompressedBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import * as tokens from '@whiskeysockets/baileys/lib/WABinary/constants.js';
import type { BinaryNode } from '../nodes.ts';

/** Largest frame, in bytes, before and after inflating. */
export const maxFrame = 4 * 1024 * 1024;

export const encodeNode = (one: BinaryNode): Uint8Array => encodeBinaryNode(one);

/** Bit 1 of the first byte says that the rest is deflated. Throws when the bytes are not a node. */
export function decodeNode(encoded: Uint8Array): BinaryNode {
  const buffer = Buffer.from(encoded);
  const rest = buffer.subarray(1);
  const body = ((buffer[0] ?? 0) & 2) > 0 ? inflateSync(rest, { maxOutputLength: maxFrame }) : rest;
  return decodeDecompressedBinaryNode(body, tokens);
}
