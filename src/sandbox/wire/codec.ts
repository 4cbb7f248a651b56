/** Nodes as bytes. Baileys' own decoder is asynchronous and inflates without a limit; this one is neither. */
import { inflateSync } from 'node:zlib';
import { decodeDecompressedBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import * as tokens from '@whiskeysockets/baileys/lib/WABinary/constants.js';
import type { BinaryNode } from '../nodes.ts';

/** Bytes of a frame, and of what it inflates to. */
export const maxFrame = 4 * 1024 * 1024;

export const encodeNode = (one: BinaryNode): Uint8Array => encodeBinaryNode(one);

/** First byte: bit 1 says that the rest is deflated. Throws on anything that is no node. */
export function decodeNode(encoded: Uint8Array): BinaryNode {
  const buffer = Buffer.from(encoded);
  const rest = buffer.subarray(1);
  const body = ((buffer[0] ?? 0) & 2) > 0 ? inflateSync(rest, { maxOutputLength: maxFrame }) : rest;
  return decodeDecompressedBinaryNode(body, tokens);
}
