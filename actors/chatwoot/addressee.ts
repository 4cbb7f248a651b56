/** To whom an agent writes in a conversation that did not begin here: pure functions. */
import type { ChatwootAddressee, InstanceRecord } from '../model.ts';

/** Persons and groups; what else has an address, such as a channel, is nobody with whom agents talk. */
const address = /^(?:[1-9]\d{4,14}@(?:s\.whatsapp\.net|c\.us)|\d{5,20}@lid|\d[\d-]{4,40}@g\.us)$/;
const longestNumber = 15;

const digitsOf = (text: string): string => /^\d*/.exec(text)?.[0] ?? '';

/** The address or the number; '' when the contact has none that agents may write to. `own`: the account, which does not write to itself. */
export function addresseeOf(
  { identifier, phone }: Pick<ChatwootAddressee, 'identifier' | 'phone'>,
  own: Pick<InstanceRecord, 'owner' | 'lid'>,
): string {
  const digits = phone.replaceAll(/\D/g, '');
  const chosen = address.test(identifier) ? identifier : digits.length <= longestNumber ? digits : '';
  const isOwn = !chosen.endsWith('@g.us') && [own.owner, own.lid].some((one) => one !== '' && digitsOf(one) === digitsOf(chosen));
  return isOwn ? '' : chosen;
}
