/** Addresses of the platform: their kinds, the forms that a client may write, and the directory of known people and groups. */
import { isChannelId, type ParentCommunity, type Person } from '#actors/model.ts';

// Addresses of the platform: their kinds, and the forms that a client may write.

export const personServer = 's.whatsapp.net';
const groupSuffix = '@g.us';
const lidSuffix = '@lid';
/** The address of status posts. */
export const statusJid = 'status@broadcast';
const channelSuffix = '@newsletter';
const personSuffix = `@${personServer}`;

export const isGroup = (jid: string): boolean => jid.endsWith(groupSuffix);
export const isLid = (jid: string): boolean => jid.endsWith(lidSuffix);
export const isPerson = (jid: string): boolean => jid.endsWith(personSuffix);
export const isChannel = isChannelId;

const userEnd = /[@:_]/;
/** The part before the server, without device and agent: `5511…` of `5511…:57@s.whatsapp.net`. */
export const userOf = (jid: string): string => {
  const end = jid.search(userEnd);
  return end < 0 ? jid : jid.slice(0, end);
};

/** `hosted` and `hosted.lid` are devices run by a provider for the same people; `c.us` is the old name of the server of people. */
const servers: ReadonlyMap<string, string> = new Map([
  ['c.us', personServer],
  ['hosted', personServer],
  ['hosted.lid', 'lid'],
]);

/** Without device and agent, and with today's server; '' for what is no address. */
export const bare = (jid: string | null | undefined): string => {
  if (!jid) return '';
  const at = jid.indexOf('@');
  if (at < 0) return '';
  // Most are so already, and every message brings a dozen.
  if (jid.search(userEnd) === at && (isPerson(jid) || isLid(jid) || isGroup(jid))) return jid;
  const server = jid.slice(at + 1);
  return `${userOf(jid)}@${servers.get(server) ?? server}`;
};

export const personJid = (digits: string): string => digits + personSuffix;
export const lidJid = (digits: string): string => digits + lidSuffix;

/** A Brazilian mobile number: area, perhaps the ninth digit, and eight digits of which the first says that it is a mobile. */
const brazilian = /^55([1-9]\d)(9?)([6-9]\d{7})$/;

/**
 * Ids under which the platform may know a number, that of the number itself first. Accounts of Brazilian mobiles are known with the ninth digit or
 * without it. Of other numbers there is one form: with a digit more or less they may be somebody else's.
 */
export const formsOf = (jid: string): readonly string[] => {
  const [, area, ninth, rest = ''] = brazilian.exec(userOf(jid)) ?? [];
  return area === undefined ? [jid] : [jid, personJid(`55${area}${ninth === '' ? '9' : ''}${rest}`)];
};

export type Target = { readonly ok: true; readonly jid: string } | { readonly ok: false; readonly message: string };

const shapes: readonly { readonly suffix: string; readonly user: RegExp; readonly what: string }[] = [
  { suffix: groupSuffix, user: /^\d+(-\d+)?$/, what: 'group' },
  { suffix: lidSuffix, user: /^\d+$/, what: 'LID' },
  { suffix: channelSuffix, user: /^\d+$/, what: 'channel' },
  { suffix: personSuffix, user: /^\d{5,15}$/, what: 'contact' },
  { suffix: '@c.us', user: /^\d{5,15}$/, what: 'contact' },
];

/** Returns the address of a send to this `number`. Device parts are dropped, because messages go to people, not devices. */
export const resolveTarget = (number: string): Target => {
  const written = number.trim();
  if (written === '') return { ok: false, message: 'number is missing' };
  if (written === statusJid) return { ok: true, jid: statusJid };
  if (!written.includes('@')) {
    if (/^\d{5,15}$/.test(written)) return { ok: true, jid: personJid(written) };
    return { ok: false, message: 'number must be digits with the country code, or an id of the platform' };
  }
  const shape = shapes.find(({ suffix }) => written.endsWith(suffix));
  if (shape === undefined)
    return { ok: false, message: `number ends with ${written.slice(written.indexOf('@'))}, which is no known suffix` };
  const user = shape.what === 'contact' || shape.what === 'LID' ? userOf(written) : written.slice(0, -shape.suffix.length);
  if (!shape.user.test(user)) return { ok: false, message: `number is no valid ${shape.what} id` };
  return { ok: true, jid: bare(user + shape.suffix) };
};

/** The platform's id out of `<owner>:<messageid>` or `<messageid>`. */
export const shortMessageId = (id: string): string => id.slice(id.lastIndexOf(':') + 1);

// The knowledge of a conversion beside the event itself: the account, the two addresses of people, names of groups, polls. It never queries
// the platform.

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
