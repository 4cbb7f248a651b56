/** Addresses of the platform: their kinds, the forms that a client may write, and the directory of known people and groups. */
import { isChannelId, numberForms, type ParentCommunity, type Person } from '#actors/model.ts';

// The kinds of addresses, and the forms that a client may write.

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
/** Returns the part before the server, without device and agent: `5511…` of `5511…:57@s.whatsapp.net`. */
export const userOf = (jid: string): string => {
  const end = jid.search(userEnd);
  return end < 0 ? jid : jid.slice(0, end);
};

/**
 * Alternative names of servers, each with the name that the gateway uses. `hosted` and `hosted.lid` are for devices that a provider runs for the same people.
 * `c.us` is the former name of the person server.
 */
const servers: ReadonlyMap<string, string> = new Map([
  ['c.us', personServer],
  ['hosted', personServer],
  ['hosted.lid', 'lid'],
]);

/**
 * Returns the address without device and agent, and with the name of the server that the gateway uses (see `servers`). Returns '' for a text that is not an
 * address.
 */
export const bare = (jid: string | null | undefined): string => {
  if (!jid) return '';
  const at = jid.indexOf('@');
  if (at < 0) return '';
  // This check saves time. Most addresses need no change, and each message has a dozen addresses.
  if (jid.search(userEnd) === at && (isPerson(jid) || isLid(jid) || isGroup(jid))) return jid;
  const server = jid.slice(at + 1);
  return `${userOf(jid)}@${servers.get(server) ?? server}`;
};

export const personJid = (digits: string): string => digits + personSuffix;
export const lidJid = (digits: string): string => digits + lidSuffix;

/** Returns the addresses under which the platform may know a number (see `numberForms`). The given address is the first. */
export const formsOf = (jid: string): readonly string[] => [jid, ...numberForms(userOf(jid)).slice(1).map(personJid)];

export type Target = { readonly ok: true; readonly jid: string } | { readonly ok: false; readonly message: string };

const shapes: readonly { readonly suffix: string; readonly user: RegExp; readonly what: string }[] = [
  { suffix: groupSuffix, user: /^\d+(-\d+)?$/, what: 'group' },
  { suffix: lidSuffix, user: /^\d+$/, what: 'LID' },
  { suffix: channelSuffix, user: /^\d+$/, what: 'channel' },
  { suffix: personSuffix, user: /^\d{5,15}$/, what: 'contact' },
  { suffix: '@c.us', user: /^\d{5,15}$/, what: 'contact' },
];

/** Returns the address to which a message for this `number` is sent. Device parts are dropped, because messages go to people, not devices. */
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

/** Returns the platform's message id from `<owner>:<messageid>` or `<messageid>`. */
export const shortMessageId = (id: string): string => id.slice(id.lastIndexOf(':') + 1);

// The directory has facts that the conversion of an event needs and that the event lacks: the account, the two addresses of people, and the names and
// communities of groups. It never queries the platform.

export interface Directory {
  /** The own addresses without a device, and the profile name. */
  readonly me: { readonly pn: string; readonly lid: string; readonly name: string };
  /** Returns the phone JID of a LID; '' if it is not known. */
  pn(lid: string): string;
  /** Returns the LID of a phone JID; '' if it is not known. */
  lid(pn: string): string;
  groupName(jid: string): string;
  /** Returns the community of a group; null for none. */
  community(groupId: string): ParentCommunity | null;
  /** Returns a new short id of a message: `r` and 7 hex digits. */
  newId(): string;
  now(): number;
}

/** Both addresses of a person; '' for an unknown address. */
export interface Addresses {
  readonly pn: string;
  readonly lid: string;
}

/** Returns both addresses of a person. `jids`: the addresses of the person in an event, in any order. Other values are ignored. */
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

/**
 * Returns the form of a number under which the account knows the person: the number of the account itself, a number with a known LID, or the number of one
 * of `members`. Returns null for an unknown person.
 */
export const knownForm = (directory: Directory, jid: string, members: readonly Person[] = []): string | null =>
  formsOf(jid).find((form) => isMe(directory, form) || directory.lid(form) !== '' || members.some(({ pn }) => pn === form)) ?? null;

/** Returns a person. `id`: the address by which the platform names the person. `others`: further addresses of the same person. */
export const personOf = (
  directory: Directory,
  id: string | null | undefined,
  ...others: readonly (string | null | undefined)[]
): Person => ({
  id: bare(id),
  ...addressesOf(directory, id, ...others),
});

/** Returns the id and the addresses of a chat. The id of a chat with a person is the phone JID if known, and otherwise the LID. */
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

/** Returns the key of type `lid-mapping` under which Baileys stores a person's other address (number or LID). Each direction has its own key. */
export const mappingKey = (jid: string): string => (isLid(jid) ? `${userOf(jid)}_reverse` : userOf(jid));

export const mappingKeysOf = (jids: readonly string[]): readonly string[] =>
  jids.filter((jid) => isLid(jid) || isPerson(jid)).map(mappingKey);

/** Returns the other address of a person; '' if it is not known. `lookUp` reads a key from memory. */
export const mappedJid = (lookUp: (id: string) => string | null | undefined, jid: string): string => {
  const user = lookUp(mappingKey(jid));
  if (!user) return '';
  return isLid(jid) ? personJid(user) : lidJid(user);
};
