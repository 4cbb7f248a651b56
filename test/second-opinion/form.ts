/** Forms of stanzas: the attributes and children that an element must have, may have, and must not have. */
import type { BinaryNode } from '@whiskeysockets/baileys';

export interface Form {
  /** The source of the form. It shares no code with the client library. */
  readonly source?: string;
  /** Attributes by name. A name that ends with `?` is optional. Other names are refused. */
  readonly attrs?: Readonly<Record<string, RegExp>>;
  /** Children by name. Each occurs once; `?` at most once, `+` at least once, `*` any number of times. Others are refused. */
  readonly children?: Readonly<Record<string, Form>>;
  /** The length of the content in bytes, or `any`. */
  readonly bytes?: number | 'any';
  /** True if the content is not checked. */
  readonly open?: true;
  /** Checks what a table cannot express, and returns the fault. */
  readonly rule?: (node: BinaryNode) => string | undefined;
}

export class FormError extends Error {}

/** Returns the child elements of an element. The list is empty if the content is text or bytes. */
export const childrenOf = ({ content }: BinaryNode): BinaryNode[] => (Array.isArray(content) ? content : []);
export const child = (node: BinaryNode, tag: string): BinaryNode | undefined => childrenOf(node).find((one) => one.tag === tag);
/** Returns all elements with a tag, at any depth. */
export const within = (node: BinaryNode, tag: string): BinaryNode[] =>
  childrenOf(node).flatMap((one) => [...(one.tag === tag ? [one] : []), ...within(one, tag)]);

function checkAttrs({ attrs }: BinaryNode, named: Readonly<Record<string, RegExp>>, at: string): void {
  for (const [name, format] of Object.entries(named)) {
    const value = attrs[name.replace('?', '')];
    if (value === undefined && !name.endsWith('?')) throw new FormError(`${at} lacks the attribute ${name}`);
    if (value !== undefined && !format.test(value)) throw new FormError(`${at} has ${name}="${value}", which is not ${format.source}`);
  }
  for (const name of Object.keys(attrs))
    if (!Object.hasOwn(named, name) && !Object.hasOwn(named, `${name}?`)) throw new FormError(`${at} must not have the attribute ${name}`);
}

function checkChildren(node: BinaryNode, named: Readonly<Record<string, Form>>, at: string): void {
  const counts = new Map<string, number>();
  for (const one of childrenOf(node)) {
    const key = ['', '?', '+', '*'].map((mark) => one.tag + mark).find((name) => Object.hasOwn(named, name));
    const form = key === undefined ? undefined : named[key];
    if (form === undefined) throw new FormError(`${at} must not have the child <${one.tag}>`);
    counts.set(one.tag, (counts.get(one.tag) ?? 0) + 1);
    checkForm(one, form, `${at}/${one.tag}`);
  }
  for (const key of Object.keys(named)) {
    const tag = key.replace(/[?+*]$/, '');
    const count = counts.get(tag) ?? 0;
    if (count === 0 && !/[?*]$/.test(key)) throw new FormError(`${at} lacks the child <${tag}>`);
    if (count > 1 && !/[+*]$/.test(key)) throw new FormError(`${at} has <${tag}> ${count} times`);
  }
}

/** Checks an element. Throws a `FormError` that names the first difference. `at` is the path of the element. */
export function checkForm(node: BinaryNode, form: Form, at: string): void {
  checkAttrs(node, form.attrs ?? {}, at);
  const { content } = node;
  if (form.bytes !== undefined) {
    if (content === undefined || Array.isArray(content)) throw new FormError(`${at} has no bytes`);
    const { length } = Buffer.from(content as Uint8Array);
    if (length === 0 || (form.bytes !== 'any' && length !== form.bytes))
      throw new FormError(`${at} has ${length} bytes, not ${form.bytes}`);
  } else if (content !== undefined && !Array.isArray(content) && !form.open) throw new FormError(`${at} must not have bytes`);
  if (!form.open && form.bytes === undefined) checkChildren(node, form.children ?? {}, at);
  const wrong = form.rule?.(node);
  if (wrong !== undefined) throw new FormError(`${at} ${wrong}`);
}

export const any = /^/;
export const digits = /^\d+$/;
export const id = /^[\w.-]+$/;
/** The platform itself, as a text or as an address with an empty user. */
export const server = /^@?s\.whatsapp\.net$/;
export const pn = /^\d+@s\.whatsapp\.net$/;
export const lid = /^\d+@lid$/;
export const person = /^\d+@(s\.whatsapp\.net|lid)$/;
export const device = /^\d+(:\d+)?@(s\.whatsapp\.net|lid)$/;
export const group = /^[\d-]+@g\.us$/;
export const empty: Form = {};
export const bytes: Form = { bytes: 'any' };

/** A public key with its id; the signed form also has a signature (whatsmeow `prekeys.go:163`). */
export const key: Form = { children: { id: { bytes: 3 }, value: { bytes: 32 } } };
export const signedKey: Form = { children: { id: { bytes: 3 }, value: { bytes: 32 }, signature: { bytes: 64 } } };
/** `2:` and six bytes in unpadded base64 (whatsmeow `send.go:682`). */
export const listHash = /^2:[A-Za-z0-9+/]{8}$/;
/** People in a group: by LID with the number beside it where it is known, or by number alone (whatsmeow `group.go:61`). */
export const participant: Form = {
  attrs: { jid: person, 'phone_number?': pn },
  children: { 'privacy?': bytes },
  rule: ({ attrs }) => (attrs['phone_number'] !== undefined && !lid.test(attrs['jid'] ?? '') ? 'names a number twice' : undefined),
};
