/** Events. */
import { type Static, Type } from 'typebox';
import { done, type EventFacts, refuse, type Result, type SendContent } from '#actors/gateway.ts';
import { Flag, optional, Text } from '../../schemas/common.ts';
import { secondsOf } from './cards.ts';
import { sendRow } from './row.ts';

const Time = (description: string, example = 1_800_000_000) =>
  Type.Integer({ minimum: 1, maximum: 1e14, description, examples: [example] });

const fields = {
  name: Type.String({ minLength: 1, maxLength: 1000, description: 'Name of the event; at most 100 characters', examples: ['Launch'] }),
  description: optional(Text(8000, 'What happens; at most 2048 characters')),
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
      { description: 'Where it takes place' },
    ),
  ),
  joinLink: optional(Text(4000, 'HTTPS address at which people join')),
  extraGuestsAllowed: optional(Flag('People may bring others')),
  isScheduleCall: optional(Flag('It is a call; without a `joinLink` the platform makes the link')),
  isCanceled: optional(Flag('It does not take place. With the id of an own event in `replyid` that event is called off')),
  hasReminder: optional(Flag('Remind people before it begins')),
  reminderOffsetSec: optional(Type.Integer({ minimum: 0, maximum: 31_536_000, description: 'Seconds before the beginning' })),
};

type Body = { readonly [K in keyof typeof fields]?: Static<(typeof fields)[K]> } & { readonly name: string; readonly startTime: number };

/** Seconds before the start at which phones remind people by themselves. */
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
