/** Telephone numbers as the interface shows them: international and grouped (contract/behaviour.md, "Ids"). */
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

const suffix = '@s.whatsapp.net';

/** The number of a person, '' for any other chat. Takes some ten microseconds: done once a chat, not once a message. */
export const phoneOf = (chatId: string): string => {
  if (!chatId.endsWith(suffix)) return '';
  const number = `+${chatId.slice(0, -suffix.length)}`;
  return parsePhoneNumberFromString(number)?.formatInternational() ?? number;
};
