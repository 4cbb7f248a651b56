/** Jids: the addresses of people, devices, groups and channels in the protocol. */
import { createHash } from 'node:crypto';
import { jidDecode } from '@whiskeysockets/baileys';
import type { Digits } from './interface.ts';

export type Addressing = 'pn' | 'lid';

/** The parts of a user's jid. Device 0 is the phone. */
interface UserAddress {
  readonly addressing: Addressing;
  readonly user: Digits;
  readonly device: number;
}

const number = /^[1-9]\d{6,14}$/;
const digits = /^\d{5,20}$/;

/** Returns true for numbers with the country code 999, which is not assigned. Such numbers have no account. */
export const isMissingNumber = (user: string): boolean => user.startsWith('999');

export const isNumber = (user: string): boolean => number.test(user);

/** Returns the other form of a Brazilian mobile number: with or without the ninth digit. Returns `undefined` for other numbers. */
export const otherForm = (user: Digits): Digits | undefined => {
  const [, area, ninth, rest] = /^55([1-9]\d)(9?)([6-9]\d{7})$/.exec(user) ?? [];
  return area === undefined ? undefined : `55${area}${ninth === '' ? '9' : ''}${rest}`;
};

export const isGroupJid = (jid: string): boolean => /^[\d-]{5,40}@g\.us$/.test(jid);

export const isChannelJid = (jid: string): boolean => /^\d{5,25}@newsletter$/.test(jid);

/** The jid of the chat with all status posts. The chat works like a group whose members the sender chooses for each post. */
export const statusJid = 'status@broadcast';

/** Returns true for groups and for the chat of status posts. Their messages name the author in the attribute `participant`. */
export const isGroupOrStatus = (jid: string): boolean => jid === statusJid || isGroupJid(jid);

/** Parses the jid of a person or of a person's device. Returns `undefined` for malformed jids, and for jids of groups, broadcasts and channels. */
export function parseUser(jid: string | undefined): UserAddress | undefined {
  const decoded = jid === undefined ? undefined : jidDecode(jid);
  if (!decoded || !digits.test(decoded.user)) return undefined;
  const device = decoded.device ?? 0;
  if (!Number.isInteger(device) || device < 0 || device > 999) return undefined;
  if (decoded.server === 's.whatsapp.net' || decoded.server === 'c.us') return { addressing: 'pn', user: decoded.user, device };
  return decoded.server === 'lid' ? { addressing: 'lid', user: decoded.user, device } : undefined;
}

const suffix = (device: number): string => (device > 0 ? `:${device}` : '');

export const pnJid = (user: Digits, device = 0): string => `${user}${suffix(device)}@s.whatsapp.net`;

export const lidJid = (lid: Digits, device = 0): string => `${lid}${suffix(device)}@lid`;

/** Returns the jid of a person's device, with the number or the LID of the person. */
export const jidOf = (person: { readonly number: Digits; readonly lid: Digits }, addressing: Addressing, device = 0): string =>
  addressing === 'lid' ? lidJid(person.lid, device) : pnJid(person.number, device);

/** Returns the phone-number jid that accompanies a LID; undefined for a person whose number the platform hides. */
export const toldPn = (person: { readonly number: Digits; readonly withoutNumber?: boolean }): string | undefined =>
  person.withoutNumber ? undefined : pnJid(person.number);

/** Derives a LID of 15 digits. The same arguments give the same LID. The caller increases `attempt` until the LID belongs to no other person. */
export function deriveLid(user: Digits, attempt: number): Digits {
  const value = createHash('sha256').update(`lid:${user}:${attempt}`).digest().readBigUInt64BE(0);
  return String(100_000_000_000_000n + (value % 900_000_000_000_000n));
}

/** Returns the key under which the platform stores a linked device. */
export const deviceKey = (user: Digits, device: number): string => `${user}:${device}`;
