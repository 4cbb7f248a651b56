/** Placeholders in the texts of sends: `{{name}}`, `{{wa_name}}`, `{{lead_email}}` (contract/behaviour.md, "Sends"). */
import type { NamedChat } from '#actors/model.ts';

/** Returns the name of a person. The number, which replaces a missing name in other places, is no name in a greeting. */
const nameOf = (chat: NamedChat | null): string => (chat === null || (!chat.isGroup && chat.name === chat.phone) ? '' : chat.name);

const fields: Readonly<Record<string, (chat: NamedChat | null) => string>> = {
  name: nameOf,
  first_name: (chat) => nameOf(chat).trim().split(/\s+/)[0] ?? '',
  wa_name: (chat) => chat?.pushName ?? '',
  wa_contactName: (chat) => chat?.contactName ?? '',
};

/** Returns the text of a placeholder; null for a name that is no placeholder. */
export const placeholderText = (name: string, chat: NamedChat | null): string | null => {
  if (Object.hasOwn(fields, name)) return fields[name]?.(chat) ?? '';
  if (!name.startsWith('lead_')) return null;
  const value = chat?.extra[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};
