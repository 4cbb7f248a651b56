/** Finds the recipient of a conversation that an agent began in Chatwoot. Pure functions. */
import type { ChatwootAddressee, InstanceRecord } from '../model.ts';

/** Addresses of people and groups. Agents do not write to other chats, such as channels. */
const address = /^(?:[1-9]\d{4,14}@(?:s\.whatsapp\.net|c\.us)|\d{5,20}@lid|\d[\d-]{4,40}@g\.us)$/;
const longestNumber = 15;

const digitsOf = (text: string): string => /^\d*/.exec(text)?.[0] ?? '';

/** Returns the address or the number, or '' if agents may not write to the contact. `own` is the account, which does not write to itself. */
export function addresseeOf(
  { identifier, phone }: Pick<ChatwootAddressee, 'identifier' | 'phone'>,
  own: Pick<InstanceRecord, 'owner' | 'lid'>,
): string {
  const digits = phone.replaceAll(/\D/g, '');
  const chosen = address.test(identifier) ? identifier : digits.length <= longestNumber ? digits : '';
  const isOwn = !chosen.endsWith('@g.us') && [own.owner, own.lid].some((one) => one !== '' && digitsOf(one) === digitsOf(chosen));
  return isOwn ? '' : chosen;
}
