/** Checks which numbers have accounts. Known numbers cause no request. All other numbers share one request, at the pace of all look-ups. */
import type { CheckedNumber } from '../views.ts';
import { done, type Result } from '../model.ts';
import type { Identified } from '../operations.ts';
import type { Cell } from './cell.ts';
import { performIn } from './perform.ts';
import type { Addressed, Known } from './recipients.ts';

const nothing = { chatId: '', lid: '', exists: false, businessName: '', groupName: '', error: '' } as const;

const identify = async (cell: Cell, signal: AbortSignal, ids: readonly string[]): Promise<Result<ReadonlyMap<string, Identified>>> => {
  const unique = [...new Set(ids)];
  const identified = await performIn(cell, signal, 'chat.identify', { ids: unique });
  return identified.ok ? done(new Map(unique.map((id, at) => [id, identified.value[at]!]))) : identified;
};

type Found = ReadonlyMap<string, Known>;

/** Returns the answer to one query. `chat` is the identified query. `found` has the results of the look-ups, and `names` the found accounts, both by id. */
const checked = (query: string, chat: Identified, found: Found, names: ReadonlyMap<string, Identified>): CheckedNumber => {
  const { id, lid, kind, groupName } = chat;
  if (kind === 'other') return { ...nothing, query, error: 'only contacts and groups can be checked' };
  if (kind === 'group')
    return {
      ...nothing,
      query,
      chatId: id,
      groupName,
      exists: groupName !== '',
      error: groupName === '' ? 'the account is in no such group' : '',
    };
  if (kind === 'lid') return { ...nothing, query, chatId: id, lid, exists: null, error: 'the number of this LID is not known' };
  const known = found.get(id);
  // Only the account's own number is missing in the results, because it is not looked up.
  if (known === undefined) return { ...nothing, query, chatId: id, lid, exists: true };
  if (known === null) return { ...nothing, query, chatId: id, exists: null, error: 'the platform did not say' };
  if (known.chatId === '') return { ...nothing, query, chatId: id };
  const account = names.get(known.chatId);
  return { ...nothing, query, chatId: known.chatId, lid: account?.lid ?? '', exists: true, businessName: known.businessName ?? '' };
};

/** Checks numbers on a live session. The refusals of `Recipients.check` refuse the whole call. A query that is no number or id gets its own error. */
export async function checkNumbers(cell: Cell, signal: AbortSignal, numbers: readonly string[]): Promise<Result<readonly CheckedNumber[]>> {
  const chats = numbers.map((number) => cell.link.chatOf(number));
  const asked = await identify(
    cell,
    signal,
    chats.flatMap((chat) => (chat.ok ? [chat.value.chatId] : [])),
  );
  if (!asked.ok) return asked;
  const people = new Map<string, Addressed>();
  for (const { id, kind } of asked.value.values()) {
    const chat = kind === 'person' ? cell.link.chatOf(id) : null;
    if (chat?.ok && chat.value.forms.length > 0) people.set(id, { chatId: id, forms: chat.value.forms });
  }
  const found = await cell.recipients.check([...people.values()], (forms) => performIn(cell, signal, 'chat.lookUp', { numbers: forms }));
  if (!found.ok) return found;
  const accounts = [...found.value.values()].flatMap((known) => (known === null || known.chatId === '' ? [] : [known.chatId]));
  const names = await identify(cell, signal, accounts);
  if (!names.ok) return names;
  return done(
    chats.map((chat, at) => {
      const query = numbers[at] ?? '';
      if (!chat.ok) return { ...nothing, query, error: chat.refusal.message };
      return checked(query, asked.value.get(chat.value.chatId)!, found.value, names.value);
    }),
  );
}
