/** Placeholders in texts: `{{name}}` and its kin become what the chat says (contract/behaviour.md, "Sends"). */
import type { Chat, SendContent } from './model.ts';

const placeholder = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;

const fields: Readonly<Record<string, (chat: Chat | null) => string>> = {
  name: (chat) => chat?.name ?? '',
  first_name: (chat) => (chat?.name ?? '').trim().split(/\s+/)[0] ?? '',
  wa_name: (chat) => chat?.pushName ?? '',
  wa_contactName: (chat) => chat?.contactName ?? '',
};

/** Fields of each kind of content that may hold placeholders. */
const textFields: { readonly [K in SendContent['kind']]: readonly (keyof Extract<SendContent, { kind: K }> & string)[] } = {
  text: ['text'],
};

const textsOf = (content: SendContent): readonly (readonly [string, string])[] =>
  textFields[content.kind].map((field) => [field, String(content[field])] as const);

export const hasPlaceholders = (content: SendContent): boolean => textsOf(content).some(([, text]) => text.includes('{{'));

/** A name that is no placeholder stays as it is: texts may hold braces of their own. */
export const fillText = (text: string, chat: Chat | null): string =>
  text.replace(placeholder, (whole, name: string) => {
    if (Object.hasOwn(fields, name)) return fields[name]?.(chat) ?? '';
    if (!name.startsWith('lead_')) return whole;
    const value = chat?.extra[name];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  });

export const fillPlaceholders = <Content extends SendContent>(content: Content, chat: Chat | null): Content => ({
  ...content,
  ...Object.fromEntries(textsOf(content).map(([field, text]) => [field, fillText(text, chat)])),
});
