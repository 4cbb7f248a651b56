/** Ids of chats in every form in which the interface gives them back (specification 2.8, contract/behaviour.md "Ids"). */

/** `<owner>:<number>`, which is `wa_fastid`; the number of a group is its id without the suffix. */
export const fastChatId = (owner: string, chatId: string): string =>
  `${owner}:${chatId.slice(0, (chatId.indexOf('@') + 1 || Infinity) - 1)}`;

/** `hosted` and `hosted.lid` are devices run by a provider for the same people; `c.us` is the old name of the server of people. */
const servers: Readonly<Record<string, string>> = { 'c.us': 's.whatsapp.net', hosted: 's.whatsapp.net', 'hosted.lid': 'lid' };

/** A written phone number: no person has more than 15 digits (E.164), and ids of groups have more. */
const writtenNumber = /^\+?[\d\s().-]+$/;
const mostDigits = 15;
const groupNumber = /^\d{16,}$|^\d{5,}-\d{5,}$/;
/** In front of a colon stands the owner, unless what is behind it is the number of a device. */
const withOwner = /^\d{5,}:(?!\d{1,4}(?:@|$))(.+)$/;
const withDevice = /^([\w.-]+?)(?:_\d+)?(?::\d+)?@([\w.]+)$/;

/** A quick id does not tell what kind of chat it names. */
const ofAnyKind = (number: string): readonly string[] =>
  ['s.whatsapp.net', 'g.us', 'lid', 'newsletter'].map((server) => `${number}@${server}`);

/** The ids that a chat may have which a client names like this, the most likely one first. */
export const chatIdsOf = (name: string): readonly string[] => {
  const written = name.trim();
  const owned = withOwner.exec(written)?.[1];
  if (owned !== undefined) return owned.includes('@') ? chatIdsOf(owned) : ofAnyKind(owned);
  const [, user, server] = withDevice.exec(written) ?? [];
  if (user !== undefined && server !== undefined) return [`${user}@${servers[server] ?? server}`];
  if (groupNumber.test(written)) return ofAnyKind(written);
  const digits = written.replaceAll(/\D/g, '');
  return writtenNumber.test(written) && digits !== '' && digits.length <= mostDigits ? [`${digits}@s.whatsapp.net`] : [written];
};

/** Returns true if a text names one chat, and is not a part of an id to search for. Digits alone may be either. */
export const isWholeChatId = (text: string): boolean => withOwner.test(text.trim()) || withDevice.test(text.trim());
