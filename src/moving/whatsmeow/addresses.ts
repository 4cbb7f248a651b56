/** Names of people and devices as whatsmeow and as the client library write them, and the mapping between numbers and LIDs. */

/** `user[_domain]`: both programs write it alike. */
const isUser = /^[^\s:@.]+$/;
const isDevice = /^\d+$/;

/** Suffixes of a user, beside none for a number. */
const lidDomain = '_1';
const hostedDomain = '_128';
const hostedLidDomain = '_129';

/** Splits `user:device` of whatsmeow at its last colon. Returns null for another text. */
export const addressOf = (text: string): { readonly user: string; readonly device: string } | null => {
  const at = text.lastIndexOf(':');
  const [user, device] = [text.slice(0, at), text.slice(at + 1)];
  return at > 0 && isUser.test(user) && isDevice.test(device) ? { user, device } : null;
};

/** Returns the user of an address or a jid, without domain, agent and device. */
export const bareUser = (text: string): string => /^[^_.:@]*/.exec(text)?.[0] ?? '';

/** Numbers and LIDs of the same people, users without a server. */
export interface LidMap {
  readonly lidOf: ReadonlyMap<string, string>;
}

/** Returns the LID under which the library looks for sessions and identities of this user. Returns null for LIDs and for numbers without a mapping. */
export const lidUserOf = ({ lidOf }: LidMap, user: string): string | null => {
  const [bare = '', domain] = user.split('_');
  const lid = lidOf.get(bare);
  if (lid === undefined) return null;
  if (domain === undefined) return `${lid}${lidDomain}`;
  return `_${domain}` === hostedDomain ? `${lid}${hostedLidDomain}` : null;
};

/** Returns the jid under which the library looks for the privacy token of a person. */
export const tokenJid = ({ lidOf }: LidMap, jid: string): string => {
  const lid = jid.endsWith('@s.whatsapp.net') ? lidOf.get(bareUser(jid)) : undefined;
  return lid === undefined ? jid : `${lid}@lid`;
};

/** Brings the jid of an own device to the form of schema 5 and later: `number.0:device` becomes `number:device`. */
export const deviceJid = (jid: string): string => jid.replace(/\.0(?=[:@])/, '');
