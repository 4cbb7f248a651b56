/** Encoding and decoding of nodes. Baileys' own decoder is asynchronous and inflates without a limit; this one is synchronous and has a limit. */
import { inflateSync } from 'node:zlib';
import { decodeDecompressedBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import * as tokens from '@whiskeysockets/baileys/lib/WABinary/constants.js';
import type { BinaryNode } from '../nodes.ts';

/** Largest frame, in bytes, before and after inflating. */
export const maxFrame = 4 * 1024 * 1024;

const { LIST_EMPTY, LIST_8, LIST_16, BINARY_8, BINARY_20, BINARY_32 } = tokens.TAGS;

const listOf = (size: number): Uint8Array =>
  Uint8Array.from(size === 0 ? [LIST_EMPTY] : size < 256 ? [LIST_8, size] : [LIST_16, size >> 8, size & 255]);

const bytesOf = (bytes: Uint8Array): readonly Uint8Array[] => {
  const { length } = bytes;
  if (length < 256) return [Uint8Array.from([BINARY_8, length]), bytes];
  if (length < 1 << 20) return [Uint8Array.from([BINARY_20, length >> 16, (length >> 8) & 255, length & 255]), bytes];
  return [Uint8Array.from([BINARY_32, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255]), bytes];
};

/** Every text as its bytes, without the short forms for addresses and frequent words: longer, and right for any text. */
const literally = ({ tag, attrs, content }: BinaryNode): readonly Uint8Array[] => {
  const given = Object.entries(attrs).filter(([, value]) => typeof value === 'string');
  const texts = [tag, ...given.flat()].flatMap((text) => bytesOf(Buffer.from(text)));
  const head = [listOf(2 * given.length + 1 + (content === undefined ? 0 : 1)), ...texts];
  if (content === undefined) return head;
  return Array.isArray(content)
    ? [...head, listOf(content.length), ...content.flatMap(literally)]
    : [...head, ...bytesOf(Buffer.from(content))];
};

/** Addresses are the texts with `@` that the library's encoder is made for. */
const address = /^[\w.-]*(:\d{1,2})?@[a-z.]+$/;
const isOdd = ({ attrs, content }: BinaryNode): boolean =>
  Object.values(attrs).some((value) => typeof value === 'string' && value.includes('@') && (value.includes('_') || !address.test(value))) ||
  (Array.isArray(content) && content.some(isOdd));

/** The library's encoder writes every text with `@` as an address, also a name such as `Shop@`, which it then cannot read. The platform can. */
export const encodeNode = (one: BinaryNode): Uint8Array =>
  isOdd(one) ? Buffer.concat([Buffer.of(0), ...literally(one)]) : encodeBinaryNode(one);

/** Bit 1 of the first byte says that the rest is deflated. Throws when the bytes are not a node. */
export function decodeNode(encoded: Uint8Array): BinaryNode {
  const buffer = Buffer.from(encoded);
  const rest = buffer.subarray(1);
  const body = ((buffer[0] ?? 0) & 2) > 0 ? inflateSync(rest, { maxOutputLength: maxFrame }) : rest;
  return decodeDecompressedBinaryNode(body, tokens);
}
