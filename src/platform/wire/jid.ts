/** Addresses of the platform: their kinds, and the forms that a client may write. */
import { isChannelId } from '#actors/model.ts';

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
