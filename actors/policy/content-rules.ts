/** The limits that the platform's own clients put on messages. Content that breaks a rule is refused before anything is stored or sent. */
import type { ContactContent, EventFacts, GroupInviteContent, Place, PollContent, SendContent } from '../model.ts';
import { isWebAddress } from '../web-address.ts';
import { buttonsRule, carouselRule, listRule } from './interactive-rules.ts';

/** Returns a sentence for the sender; null if the content is valid. */
type Rule<Content> = (content: Content) => string | null;

/** Fields with their largest length in characters. */
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

/** A line break in a field of a card would start another field. */
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
