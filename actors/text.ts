/** Placeholders in texts, such as `{{name}}`: which names there are is said by the interface. */
import type { Chat, SendContent } from './model.ts';
import type { Placeholder } from './ports.ts';

const braces = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;

/** Fields of each kind of content that may hold placeholders. */
const textFields: { readonly [K in SendContent['kind']]: readonly (keyof Extract<SendContent, { kind: K }> & string)[] } = {
  text: ['text'],
};

const textsOf = (content: SendContent): readonly (readonly [string, string])[] =>
  textFields[content.kind].map((field) => [field, String(content[field])] as const);

export const hasPlaceholders = (content: SendContent): boolean => textsOf(content).some(([, text]) => text.includes('{{'));

/** A name that is no placeholder stays as it is: texts may hold braces of their own. */
export const fillText = (text: string, chat: Chat | null, placeholder: Placeholder): string =>
  text.replace(braces, (whole, name: string) => placeholder(name, chat) ?? whole);

export const fillPlaceholders = <Content extends SendContent>(content: Content, chat: Chat | null, placeholder: Placeholder): Content => ({
  ...content,
  ...Object.fromEntries(textsOf(content).map(([field, text]) => [field, fillText(text, chat, placeholder)])),
});
