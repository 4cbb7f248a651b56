/** Sends of contacts, locations, invitations to groups, and events. */
import { type Static, Type } from 'typebox';
import { done, type EventFacts, refuse, type Result, type SendContent } from '#actors/gateway.ts';
import { commaList } from '../../body.ts';
import { Flag, optional, Text } from '../../schemas/common.ts';
import { sendRow } from './row.ts';

const missing = 'Missing required fields';
const badPlace = 'Invalid coordinates or missing number';

/** Splits a list of phone numbers, and removes their punctuation. The rules of contents refuse texts that are no numbers. */
const phonesOf = (written: string): readonly string[] => commaList(written).map((phone) => phone.replaceAll(/[+\s().-]/g, ''));

/** Returns the code from an invitation link or from the code itself. */
const inviteCode = (written: string): string =>
  /^https?:\/\/chat\.whatsapp\.com\/(?:invite\/)?([\w-]+)/i.exec(written.trim())?.[1] ?? written.trim();

/** Times above this value are milliseconds. As seconds they would be after the year 5000. */
const mostSeconds = 1e11;

/** Converts a time to Unix seconds; null for other values. The time is in Unix seconds, in Unix milliseconds, or a text such as RFC 3339. */
const secondsOf = (written: number | string): number | null => {
  const digits = typeof written === 'number' || /^\d+$/.test(written.trim());
  const value = digits ? Number(written) : Date.parse(written) / 1000;
  if (!Number.isFinite(value) || value <= 0) return null;
  return Math.floor(value > mostSeconds ? value / 1000 : value);
};

const expiryOf = (written: number | string, now: number): Result<number> => {
  const seconds = secondsOf(written);
  if (seconds === null) return refuse('invalid', 'expiration must be a time: RFC 3339, or Unix seconds or milliseconds');
  return seconds * 1000 <= now ? refuse('invalid', 'the invitation has expired') : done(seconds);
};

export const cardRows = [
  sendRow({
    on: 'POST /send/contact',
    operationId: 'sendContact',
    summary: 'Send a contact card',
    sent: 'Contact card sent successfully',
    fields: {
      fullName: Type.String({ minLength: 1, maxLength: 1000, description: 'Name of the contact', examples: ['Ana Silva'] }),
      phoneNumber: Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'Numbers with country code, separated by commas',
        examples: ['5511999999999,5511888888888'],
      }),
      organization: optional(Text(1000, 'Company of the contact')),
      email: optional(Text(1000, 'Address of the contact')),
      url: optional(Text(4000, 'Web address of the contact')),
    },
    invalidTexts: {
      'number:required': missing,
      'number:minLength': missing,
      'fullName:required': missing,
      'fullName:minLength': missing,
      'phoneNumber:required': missing,
      'phoneNumber:minLength': missing,
    },
    content: ({ fullName, phoneNumber, organization = '', email = '', url = '' }) =>
      done({ kind: 'contact', name: fullName, phones: phonesOf(phoneNumber), organization, email, url }),
  }),
  sendRow({
    on: 'POST /send/location',
    operationId: 'sendLocation',
    summary: 'Send a place on the map',
    sent: 'Location sent successfully',
    fields: {
      latitude: Type.Number({ description: 'Degrees, from -90 to 90', examples: [-23.5616] }),
      longitude: Type.Number({ description: 'Degrees, from -180 to 180', examples: [-46.6562] }),
      name: optional(Text(1000, 'Name of the place')),
      address: optional(Text(1000, 'Address of the place')),
    },
    invalidTexts: { number: badPlace, latitude: badPlace, longitude: badPlace },
    content: ({ latitude, longitude, name = '', address = '' }) => done({ kind: 'location', latitude, longitude, name, address }),
  }),
  sendRow({
    on: 'POST /send/group-invite',
    operationId: 'sendGroupInvite',
    summary: 'Invite somebody to a group who could not be added',
    sent: 'Group invite sent successfully',
    fields: {
      groupjid: Type.String({ minLength: 1, maxLength: 128, description: 'Id of the group', examples: ['120363000000000001@g.us'] }),
      code: Type.String({
        minLength: 1,
        maxLength: 300,
        description: 'The code that came when the person could not be added, or the whole link of the group',
        examples: ['AbCdEfGhIjKlMnOp'],
      }),
      expiration: Type.Unsafe<string | number>({
        type: ['string', 'number'],
        maxLength: 64,
        description: 'Until when the code is good: RFC 3339, or Unix seconds or milliseconds',
        examples: ['2100-01-01T00:00:00Z'],
      }),
      text: optional(Text(4000, 'Text below the invitation')),
    },
    content({ groupjid, code, expiration, text = '' }, now) {
      const expiresAt = expiryOf(expiration, now);
      if (!expiresAt.ok) return expiresAt;
      return done({ kind: 'groupInvite', group: groupjid.trim(), code: inviteCode(code), expiresAt: expiresAt.value, text });
    },
  }),
];

// Events.

const Time = (description: string, example = 1_800_000_000) =>
  Type.Integer({ minimum: 1, maximum: 1e14, description, examples: [example] });

const fields = {
  name: Type.String({ minLength: 1, maxLength: 1000, description: 'Name of the event; at most 100 characters', examples: ['Launch'] }),
  description: optional(Text(8000, 'Description of the event, at most 2048 characters')),
  startTime: Time('Beginning in Unix seconds or milliseconds'),
  endTime: optional(Time('End in Unix seconds or milliseconds, not before the beginning', 1_800_003_600)),
  location: optional(
    Type.Object(
      {
        name: optional(Text(1000, 'Name of the place')),
        address: optional(Text(1000, 'Address of the place')),
        latitude: optional(Type.Number({ minimum: -90, maximum: 90, description: 'Degrees' })),
        longitude: optional(Type.Number({ minimum: -180, maximum: 180, description: 'Degrees' })),
      },
      { description: 'Place of the event' },
    ),
  ),
  joinLink: optional(Text(4000, 'HTTPS address at which people join')),
  extraGuestsAllowed: optional(Flag('People may bring others')),
  isScheduleCall: optional(Flag('True if the event is a call; without a `joinLink` the platform makes the link')),
  isCanceled: optional(Flag('True to cancel an event. With the id of an own event in `replyid`, that event is cancelled')),
  hasReminder: optional(Flag('Remind people before it begins')),
  reminderOffsetSec: optional(Type.Integer({ minimum: 0, maximum: 31_536_000, description: 'Seconds before the beginning' })),
};

type Body = { readonly [K in keyof typeof fields]?: Static<(typeof fields)[K]> } & { readonly name: string; readonly startTime: number };

/** The default time of a reminder before the start of an event, as on phones. In seconds. */
const usualReminder = 3600;

const reminderOf = ({ hasReminder, reminderOffsetSec }: Body): number | null =>
  (hasReminder ?? reminderOffsetSec !== undefined) ? (reminderOffsetSec ?? usualReminder) : null;

const factsOf = (body: Body): Result<EventFacts> => {
  const { latitude, longitude, name = '', address = '' } = body.location ?? {};
  const [startsAt, endsAt] = [body.startTime, body.endTime ?? null].map((time) => (time === null ? null : secondsOf(time)));
  if (typeof startsAt !== 'number') return refuse('invalid', 'startTime must be a time');
  return done({
    name: body.name,
    description: body.description ?? '',
    startsAt,
    endsAt: endsAt ?? null,
    location: body.location
      ? { name, address, ...(latitude === undefined ? {} : { latitude }), ...(longitude === undefined ? {} : { longitude }) }
      : null,
    joinLink: body.joinLink?.trim() ?? '',
    isCall: body.isScheduleCall ?? false,
    isCancelled: body.isCanceled ?? false,
    extraGuestsAllowed: body.extraGuestsAllowed ?? false,
    remindBefore: reminderOf(body),
  });
};

const calledOff = ({ isCanceled = false, replyid = '' }: { readonly isCanceled?: boolean; readonly replyid?: string }): boolean =>
  isCanceled && replyid !== '';

export const eventRows = [
  sendRow({
    on: 'POST /send/event',
    operationId: 'sendEvent',
    summary:
      'Send an event, or call off an own one. The platform made events for groups: whether it shows one in a direct chat is not guaranteed',
    sent: 'Event sent successfully',
    fields,
    quotes: (body) => !calledOff(body),
    content(body): Result<SendContent> {
      const facts = factsOf(body);
      if (!facts.ok) return facts;
      return done(calledOff(body) ? { kind: 'eventEdit', target: body.replyid ?? '', ...facts.value } : { kind: 'event', ...facts.value });
    },
  }),
];
