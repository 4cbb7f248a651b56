/** Placeholders in texts, such as `{{name}}`. The port `Placeholder` defines their names and values. */
import type { Button, EventFacts, NamedChat, SendContent } from './model.ts';
import type { Placeholder } from './ports.ts';

const braces = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;

type Fill = (text: string) => string;

const eventFilled = <E extends EventFacts>(event: E, fill: Fill): E => ({
  ...event,
  name: fill(event.name),
  description: fill(event.description),
  joinLink: fill(event.joinLink),
  location: event.location && { ...event.location, name: fill(event.location.name), address: fill(event.location.address) },
});

const labels = <B extends Button>(buttons: readonly B[], fill: Fill): readonly B[] =>
  buttons.map((button) => ({ ...button, text: fill(button.text) }));

/** Functions that fill the texts of each kind of content. */
const textsFilled: { readonly [K in SendContent['kind']]: (content: Extract<SendContent, { kind: K }>, fill: Fill) => SendContent } = {
  text: (content, fill) => ({ ...content, text: fill(content.text) }),
  // Ids, URLs and codes are not texts and stay as they are.
  buttons: (content, fill) => ({
    ...content,
    text: fill(content.text),
    footer: fill(content.footer),
    buttons: labels(content.buttons, fill),
  }),
  list: (content, fill) => ({
    ...content,
    text: fill(content.text),
    footer: fill(content.footer),
    button: fill(content.button),
    sections: content.sections.map(({ title, rows }) => ({
      title: fill(title),
      rows: rows.map((row) => ({ ...row, title: fill(row.title), description: fill(row.description) })),
    })),
  }),
  carousel: (content, fill) => ({
    ...content,
    text: fill(content.text),
    footer: fill(content.footer),
    cards: content.cards.map((card) => ({ ...card, text: fill(card.text), buttons: labels(card.buttons, fill) })),
  }),
  placeRequest: (content, fill) => ({ ...content, text: fill(content.text) }),
  pix: (content) => content,
  payment: (content, fill) => ({
    ...content,
    title: fill(content.title),
    text: fill(content.text),
    footer: fill(content.footer),
    item: fill(content.item),
  }),
  poll: (content, fill) => ({ ...content, question: fill(content.question), options: content.options.map(fill) }),
  contact: (content, fill) => ({
    ...content,
    name: fill(content.name),
    organization: fill(content.organization),
    email: fill(content.email),
    url: fill(content.url),
  }),
  location: (content, fill) => ({ ...content, name: fill(content.name), address: fill(content.address) }),
  groupInvite: (content, fill) => ({ ...content, text: fill(content.text) }),
  channelInvite: (content) => content,
  event: eventFilled,
  eventEdit: eventFilled,
  media: (content, fill) => ({ ...content, caption: fill(content.caption) }),
};

const mapTexts = (content: SendContent, fill: Fill): SendContent =>
  (textsFilled[content.kind] as (content: SendContent, fill: Fill) => SendContent)(content, fill);

export const hasPlaceholders = (content: SendContent): boolean => {
  let found = false;
  mapTexts(content, (text) => {
    found ||= text.includes('{{');
    return text;
  });
  return found;
};

/** Replaces placeholders. A placeholder with an unknown name stays as it is, because a text may contain `{{…}}` with another meaning. */
export const fillText = (text: string, chat: NamedChat | null, placeholder: Placeholder): string =>
  text.replace(braces, (whole, name: string) => placeholder(name, chat) ?? whole);

export const fillPlaceholders = (content: SendContent, chat: NamedChat | null, placeholder: Placeholder): SendContent =>
  mapTexts(content, (text) => fillText(text, chat, placeholder));
