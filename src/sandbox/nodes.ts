/** Small helpers for the platform's XML-like nodes. */
import { getBinaryNodeChild, getBinaryNodeChildren, type BinaryNode } from '@whiskeysockets/baileys';

export type { BinaryNode };

/** The jid of the platform itself. */
export const platformJid = 's.whatsapp.net';

type Attributes = Readonly<Record<string, string | undefined>>;

/** Makes a node without the undefined attributes, which the encoder would count but not write. */
export function node(tag: string, attrs: Attributes = {}, content?: BinaryNode['content']): BinaryNode {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(attrs)) if (value !== undefined) kept[name] = value;
  return content === undefined ? { tag, attrs: kept } : { tag, attrs: kept, content };
}

export const child = (parent: BinaryNode | undefined, tag: string): BinaryNode | undefined => getBinaryNodeChild(parent, tag);

export const children = (parent: BinaryNode | undefined, tag: string): BinaryNode[] => getBinaryNodeChildren(parent, tag);

export const allChildren = (parent: BinaryNode): BinaryNode[] => (Array.isArray(parent.content) ? parent.content.filter(isNode) : []);

export const firstChild = (parent: BinaryNode): BinaryNode | undefined =>
  Array.isArray(parent.content) && isNode(parent.content[0]) ? parent.content[0] : undefined;

/** Returns the content as bytes; `undefined` if the content is a list or missing. The token coding of the wire may have turned short bytes into a string. */
export function bytes(one: BinaryNode | undefined): Buffer | undefined {
  const content = one?.content;
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof Uint8Array ? Buffer.from(content) : undefined;
}

export const text = (one: BinaryNode | undefined): string | undefined => bytes(one)?.toString('utf8');

/** Returns the bytes of a child. With `length`, returns `undefined` unless they have exactly that length. */
export function childBytes(parent: BinaryNode | undefined, tag: string, length?: number): Buffer | undefined {
  const found = bytes(child(parent, tag));
  return found && (length === undefined || found.length === length) ? found : undefined;
}

/** Returns the bytes of a child as a big-endian number. */
export function childNumber(parent: BinaryNode | undefined, tag: string, length: number): number | undefined {
  return childBytes(parent, tag, length)?.readUIntBE(0, length);
}

export function uint(value: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  buffer.writeUIntBE(value, 0, length);
  return buffer;
}

export const unixSeconds = (ms: number): string => String(Math.floor(ms / 1000));

function isNode(value: unknown): value is BinaryNode {
  return typeof value === 'object' && value !== null && 'tag' in value;
}
