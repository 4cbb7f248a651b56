/** Placeholders in the texts of sends: `{{name}}`, `{{wa_name}}`, `{{lead_email}}` (contract/behaviour.md, "Sends"). */
import type { Chat } from '#actors/model.ts';

const fields: Readonly<Record<string, (chat: Chat | null) => string>> = {
  name: (chat) => chat?.name ?? '',
  first_name: (chat) => (chat?.name ?? '').trim().split(/\s+/)[0] ?? '',
  wa_name: (chat) => chat?.pushName ?? '',
  wa_contactName: (chat) => chat?.contactName ?? '',
};

/** What stands in the place of a name; null for a name that is no placeholder. */
export const placeholderText = (name: string, chat: Chat | null): string | null => {
  if (Object.hasOwn(fields, name)) return fields[name]?.(chat) ?? '';
  if (!name.startsWith('lead_')) return null;
  const value = chat?.extra[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
};
