/** The knowledge of a conversion beside the event itself: the account, the two addresses of people, names of groups, polls. It never queries the platform. */
import type { ParentCommunity, Person } from '#actors/model.ts';
import { bare, isLid, isPerson, lidJid, personJid, userOf } from './jid.ts';

export interface Directory {
  /** Own addresses without device, and the profile name. */
  readonly me: { readonly pn: string; readonly lid: string; readonly name: string };
  /** The phone jid of a LID, '' when it is not known. */
  pn(lid: string): string;
  /** The LID of a phone jid, '' when it is not known. */
  lid(pn: string): string;
  groupName(jid: string): string;
  /** Null for a group that belongs to none. */
  community(groupId: string): ParentCommunity | null;
  /** `r` and 7 hex digits. */
  newId(): string;
  now(): number;
}

/** Both addresses of one person; '' for what is unknown. */
export interface Addresses {
  readonly pn: string;
  readonly lid: string;
}

/** `jids`: what an event tells about the same person, in any order; anything else is ignored. */
export const addressesOf = (directory: Directory, ...jids: readonly (string | null | undefined)[]): Addresses => {
  let pn = '';
  let lid = '';
  for (const jid of jids) {
    const known = bare(jid);
    if (pn === '' && isPerson(known)) pn = known;
    if (lid === '' && isLid(known)) lid = known;
  }
  return { pn: pn || (lid === '' ? '' : directory.pn(lid)), lid: lid || (pn === '' ? '' : directory.lid(pn)) };
};

/** A person whom the platform names first by `id`. `others`: the other addresses that it names for the same person. */
export const personOf = (
  directory: Directory,
  id: string | null | undefined,
  ...others: readonly (string | null | undefined)[]
): Person => ({
  id: bare(id),
  ...addressesOf(directory, id, ...others),
});

/** The id of a chat: the phone jid where it is known. */
export const chatOf = (
  directory: Directory,
  jid: string | null | undefined,
  other?: string | null,
): Addresses & { readonly id: string } => {
  const chat = bare(jid);
  if (!isLid(chat) && !isPerson(chat)) return { id: chat, pn: '', lid: '' };
  const { pn, lid } = addressesOf(directory, chat, other);
  return { id: pn || lid, pn, lid };
};

export const isMe = (directory: Directory, jid: string | null | undefined): boolean => {
  const user = bare(jid);
  return user !== '' && (user === directory.me.pn || user === directory.me.lid);
};

/** The keys of type `lid-mapping`, in which Baileys keeps the two directions of the mapping. */
export const mappingKey = (jid: string): string => (isLid(jid) ? `${userOf(jid)}_reverse` : userOf(jid));

export const mappingKeysOf = (jids: readonly string[]): readonly string[] =>
  jids.filter((jid) => isLid(jid) || isPerson(jid)).map(mappingKey);

/** `lookUp` answers from memory. */
export const mappedJid = (lookUp: (id: string) => string | null | undefined, jid: string): string => {
  const user = lookUp(mappingKey(jid));
  if (!user) return '';
  return isLid(jid) ? personJid(user) : lidJid(user);
};
