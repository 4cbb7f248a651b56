/** Placeholders in texts: `{{name}}` and its kin become what the chat says (contract/behaviour.md, "Sends"). */
import type { Chat } from './model.ts';

const placeholder = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;

const fields: Readonly<Record<string, (chat: Chat | null) => string>> = {
  name: (chat) => chat?.name ?? '',
  first_name: (chat) => (chat?.name ?? '').trim().split(/\s+/)[0] ?? '',
  wa_name: (chat) => chat?.pushName ?? '',
  wa_contactName: (chat) => chat?.contactName ?? '',
};

export const hasPlaceholders = (text: string): boolean => text.includes('{{');

/** A name that is no placeholder stays as it is: texts may hold braces of their own. */
export const fillPlaceholders = (text: string, chat: Chat | null): string =>
  text.replace(placeholder, (whole, name: string) => {
    if (Object.hasOwn(fields, name)) return fields[name]?.(chat) ?? '';
    if (!name.startsWith('lead_')) return whole;
    const value = chat?.extra[name];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  });
