/** The limits that the platform's own clients put on messages. Content that breaks a rule is refused, and neither stored nor sent. */
import {
  type Button,
  type ButtonsContent,
  type CarouselContent,
  type ContactContent,
  type EventFacts,
  type GroupInviteContent,
  isChannelId,
  type ListContent,
  type MediaKind,
  type Place,
  type PollContent,
  type Send,
  type SendContent,
} from '../model.ts';

// Web addresses from clients.

const web: readonly string[] = ['http', 'https'];

/** Returns true if a text is a URL with one of these schemes. Does not check the host. */
export const isWebAddress = (text: string, schemes = web): boolean =>
  schemes.some((scheme) => text.slice(0, scheme.length + 3).toLowerCase() === `${scheme}://`) && URL.canParse(text);

// The limits of buttons, lists and carousels, and the display limits of phones.

/** A message has at most `buttons` buttons. Some phones show at most `replies` reply buttons, or at most `links` other buttons, and never both kinds. */
const most = { buttons: 10, replies: 3, links: 2, cardButtons: 3, cards: 10 } as const;

const countsOf = ({ buttons }: Pick<ButtonsContent, 'buttons'>) => {
  const replies = buttons.filter(({ kind }) => kind === 'reply').length;
  return { replies, links: buttons.length - replies };
};

const blank = (text: string): boolean => text.trim() === '';

const labelProblem = (buttons: readonly Button[]): string | null =>
  buttons.some(({ text }) => blank(text)) ? 'a button has no text' : null;

const buttonsRule = ({ text, buttons, legacy }: ButtonsContent): string | null => {
  const { replies, links } = countsOf({ buttons });
  if (blank(text)) return 'a menu needs a text';
  if (buttons.length === 0) return 'choices must name at least one button';
  if (legacy && links > 0) return 'button_legacy takes replies only';
  if (legacy && replies > most.replies) return `button_legacy takes at most ${most.replies} replies`;
  if (buttons.length > most.buttons) return `at most ${most.buttons} buttons`;
  return labelProblem(buttons);
};

/** Returns a warning about buttons that some phones do not show; null if every phone shows them all. */
const buttonsWarning = (content: Pick<ButtonsContent, 'buttons'>): string | null => {
  const { replies, links } = countsOf(content);
  if (replies > 0 && links > 0) return 'some WhatsApp apps do not show replies beside buttons that open a link, call or copy';
  if (replies > most.replies) return `some WhatsApp apps show at most ${most.replies} replies`;
  return links > most.links ? `some WhatsApp apps show at most ${most.links} buttons that open a link, call or copy` : null;
};

/** The kinds of media without a caption. */
const captionless: ReadonlySet<MediaKind> = new Set(['ptv', 'audio', 'myaudio', 'ptt', 'sticker']);

/** Returns a warning about parts that are left out, or that some phones do not show; null if there are none. The message is sent nevertheless. */
export const contentWarning = (content: SendContent): string | null => {
  if (content.kind === 'buttons') return buttonsWarning(content);
  if (content.kind !== 'media' || content.caption === '' || !captionless.has(content.as)) return null;
  return `media of the type ${content.as} has no caption: the text was left out`;
};

const listRule = ({ text, button, sections }: ListContent): string | null => {
  const rows = sections.flatMap((section) => section.rows);
  if (blank(text)) return 'a menu needs a text';
  if (blank(button)) return 'listButton must not be empty';
  if (rows.length === 0) return 'choices must name at least one row';
  if (sections.some((section) => section.rows.length === 0)) return 'a section of the list has no rows';
  if (rows.some(({ title }) => blank(title))) return 'a row of the list has no text';
  return new Set(rows.map(({ id }) => id)).size < rows.length ? 'two rows of the list have the same id' : null;
};

const carouselRule = ({ text, cards }: CarouselContent): string | null => {
  if (blank(text)) return 'a carousel needs a text';
  if (cards.length === 0) return 'a carousel needs at least one card';
  if (cards.length > most.cards) return `a carousel has at most ${most.cards} cards`;
  if (cards.some((card) => blank(card.text))) return 'a card has no text';
  if (cards.some(({ buttons }) => buttons.length === 0 || buttons.length > most.cardButtons))
    return `a card has 1 to ${most.cardButtons} buttons`;
  return labelProblem(cards.flatMap(({ buttons }) => buttons));
};

/** A check of one kind of content. Returns the problem as a sentence for the sender; null if the content is valid. */
type Rule<Content> = (content: Content) => string | null;

/** Fields by name, with their text and its largest length in characters. */
type Lengths = readonly (readonly [name: string, text: string, most: number])[];

const tooLong = (fields: Lengths): string | null => {
  const found = fields.find(([, text, most]) => text.length > most);
  return found === undefined ? null : `${found[0]} has at most ${found[2]} characters`;
};

const pollRule: Rule<PollContent> = ({ question, options, selectable }) => {
  if (question.trim() === '') return 'a poll needs a question';
  if (options.length < 2 || options.length > 12) return 'a poll has 2 to 12 options';
  if (options.some((option) => option.trim() === '')) return 'an option of a poll is empty';
  if (new Set(options).size < options.length) return 'two options of the poll are the same';
  if (!Number.isInteger(selectable) || selectable < 0 || selectable > options.length)
    return `selectableCount must be 0 (any number) to ${options.length}`;
  return tooLong([['the question', question, 255], ...options.map((option) => ['an option', option, 100] as const)]);
};

/** Returns true if the text has control characters. A line break in a field of a contact card (vCard) would start another field. */
const hasControls = (text: string): boolean => /\p{Cc}/u.test(text);

const contactRule: Rule<ContactContent> = ({ name, phones, organization, email, url }) => {
  if (name.trim() === '') return 'fullName must not be empty';
  if ([name, organization].some(hasControls)) return 'fullName and organization must each be one line';
  if (phones.length === 0 || !phones.every((phone) => /^[1-9]\d{4,14}$/.test(phone)))
    return 'phoneNumber must be one or more numbers with country code, separated by commas';
  if (email !== '' && !/^[^\s@,;]+@[^\s@,;]+$/.test(email)) return 'email is not valid';
  if (url !== '' && (/[\s\p{Cc}]/u.test(url) || !isWebAddress(url))) return 'url must be a web address';
  return tooLong([
    ['fullName', name, 255],
    ['organization', organization, 255],
    ['email', email, 320],
    ['url', url, 2048],
  ]);
};

const placeRule: Rule<Place> = ({ latitude, longitude, name, address }) => {
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180 || (latitude === 0 && longitude === 0)) return 'Invalid coordinates';
  return tooLong([
    ['name', name, 1000],
    ['address', address, 1000],
  ]);
};

const inviteRule: Rule<GroupInviteContent> = ({ group, code, text }) => {
  if (!/^\d+(-\d+)?@g\.us$/.test(group)) return 'groupjid is not a valid group id';
  if (!/^[\w-]{6,128}$/.test(code)) return 'code is not a valid invite code';
  return tooLong([['text', text, 1024]]);
};

const eventRule: Rule<EventFacts> = ({ name, description, startsAt, endsAt, location, joinLink }) => {
  if (name.trim() === '') return 'name must not be empty';
  if (endsAt !== null && endsAt < startsAt) return 'endTime must not be before startTime';
  if (joinLink !== '' && !isWebAddress(joinLink, ['https'])) return 'joinLink must be an HTTPS address';
  const { latitude, longitude } = location ?? {};
  if ((latitude === undefined) !== (longitude === undefined)) return 'location needs both latitude and longitude, or neither';
  return tooLong([
    ['name', name, 100],
    ['description', description, 2048],
    ['joinLink', joinLink, 2048],
  ]);
};

/** The rules by kind. A kind without a row has no rules beyond its schema. */
const rules: { readonly [K in SendContent['kind']]?: Rule<Extract<SendContent, { kind: K }>> } = {
  poll: pollRule,
  contact: contactRule,
  location: placeRule,
  groupInvite: inviteRule,
  event: eventRule,
  eventEdit: eventRule,
  buttons: buttonsRule,
  list: listRule,
  carousel: carouselRule,
};

/** Returns the problem of the content as a sentence; null if the content is valid. */
export const contentProblem = (content: SendContent): string | null =>
  (rules[content.kind] as Rule<SendContent> | undefined)?.(content) ?? null;

// The limits of channel posts in the platform's apps. A post is a text, a poll or a file. Round videos and view-once files are not possible.

const taken: ReadonlySet<SendContent['kind']> = new Set(['text', 'poll', 'media']);

/** The kinds of media in channel posts. The platform's web clients upload no other kinds for channels. */
const kinds: ReadonlySet<MediaKind> = new Set(['image', 'video', 'videoplay', 'audio', 'ptt', 'myaudio', 'document', 'sticker']);

const sentence = `channels take texts, polls and media (${[...kinds].join(', ')})`;

/** Returns the problem of a channel post as a sentence for the sender; null if the post is valid, or if the message does not go to a channel. */
export const channelProblem = ({ number, content, replyTo, mentions }: Send): string | null => {
  if (!isChannelId(number.trim())) return null;
  if (!taken.has(content.kind)) return sentence;
  if (content.kind === 'media' && !kinds.has(content.as)) return sentence;
  if (content.kind === 'media' && content.viewOnce) return 'viewOnce is not possible in channels: followers can open a post again';
  if (replyTo !== '') return 'replyid is not possible in channels: posts do not quote messages';
  return mentions.length > 0 ? 'mentions are not possible in channels' : null;
};
