/** Creates campaigns: one message for many recipients, or a message for each. Messages are validated like the bodies of sends. */
import { type TSchema, Type } from 'typebox';
import { type CampaignInput, type CampaignSend, type CreatedCampaign, done, refuse, type Result } from '#actors/gateway.ts';
import { coercerOf, type InputCheck, inputCheck, invalidInput } from '../../body.ts';
import { type BodyLimit, mapResult, type Route, route } from '../../route.ts';
import { AdvancedBody, type CampaignType, campaignTypes, CreatedAnswer, SimpleBody, usualDelay } from '../../schemas/campaign.ts';
import { campaignHeaders } from '../../schemas/send.ts';
import { fileRefusals } from '../send/media.ts';
import { onceOf, otherRequest, picked, type SendRoute } from '../send/row.ts';

// Reads messages of campaigns with the code of sends. A campaign therefore refuses the same bodies with the same texts.

type Body = Readonly<Record<string, unknown>>;

/** Returns the body with `numbers` as a list. Clients may write one text with commas, semicolons or line breaks. */
export const listedNumbers = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const numbers = body?.['numbers'];
  if (typeof numbers !== 'string') return body;
  const list = numbers.split(/[,;\n]/).map((one) => one.trim());
  return { ...body, numbers: list.filter((one) => one !== '') };
};

const media = 'POST /send/media';
const menu = 'POST /send/menu';

/** The address of the send for each kind of message. */
const sends: Readonly<Record<CampaignType, `POST /send/${string}`>> = {
  text: 'POST /send/text',
  image: media,
  video: media,
  videoplay: media,
  audio: media,
  document: media,
  contact: 'POST /send/contact',
  location: 'POST /send/location',
  list: menu,
  button: menu,
  poll: menu,
  carousel: menu,
  ptt: media,
  myaudio: media,
  sticker: media,
  button_legacy: menu,
  event: 'POST /send/event',
  'location-button': 'POST /send/location-button',
  'pix-button': 'POST /send/pix-button',
  'request-payment': 'POST /send/request-payment',
  'group-invite': 'POST /send/group-invite',
};

const carousel = 'POST /send/carousel';

/** Fields of a send that a campaign cannot have. There is no message to quote, and a campaign has a queue of its own. */
const unused: ReadonlySet<string> = new Set(['number', 'type', 'replyid', 'async']);

/** Describes a field by its JSON type only. The schema of the send checks the field in full. */
const described = (schema: TSchema): TSchema => {
  const { type, items, description, examples } = schema as Readonly<Record<string, unknown>>;
  const itemType = (items as { readonly type?: unknown } | undefined)?.type;
  return Type.Unsafe({
    ...(type === undefined ? {} : { type }),
    ...(type === 'array' ? { items: itemType === 'string' ? { type: itemType } : { type: 'object', additionalProperties: true } } : {}),
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  });
};

interface Checked {
  readonly row: SendRoute;
  readonly read: (body: unknown) => unknown;
  readonly check: InputCheck;
}

interface CampaignMessages {
  /** The fields of all sends, each of them optional. */
  readonly fields: Readonly<Record<string, TSchema>>;
  /** Reads the message of a body without its recipient. `label` and `payload` are stored with the message as the call that made it. */
  read(
    body: Body & { readonly type: CampaignType },
    now: number,
    said: { readonly label: string; readonly payload?: unknown },
  ): Result<CampaignSend>;
}

export const campaignMessages = (rows: readonly SendRoute[]): CampaignMessages => {
  const checked = new Map<string, Checked>();
  const fields: Record<string, TSchema> = { buttonText: Type.Optional(Type.String({ description: 'The older name of `listButton`' })) };
  for (const address of new Set([...campaignTypes.map((type) => sends[type]), carousel])) {
    const row = rows.find(({ on }) => on[0] === address);
    if (row === undefined) throw new Error(`campaigns need ${address}`);
    checked.set(address, { row, read: coercerOf(row.body) ?? ((body) => body), check: inputCheck(row.body) });
    for (const [name, schema] of Object.entries(row.body.properties))
      if (!unused.has(name)) fields[name] ??= Type.Optional(described(schema));
  }

  const fit = ({ row, read, check }: Checked, given: Body): Result<Body> => {
    const body = read(given) as Body;
    const findings = check(body);
    return findings.length === 0 ? done(body) : refuse('invalid', invalidInput(findings, 'message', row.invalidTexts).error);
  };

  return {
    fields,
    read({ type, ...given }, now, { label, payload }) {
      const one = checked.get(type === 'carousel' && given['carousel'] !== undefined ? carousel : sends[type])!;
      const { buttonText, ...rest } = given;
      // This number is a placeholder. The gateway sets the number of a recipient in the payload when it sends to this recipient.
      const whole = { listButton: buttonText, ...rest, type, number: '0', replyid: undefined, async: false };
      const body = fit(one, Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined)));
      if (!body.ok) return body;
      return mapResult(one.row.prepare(body.value, now), ({ send, options }) => {
        const { number: _nobody, content, mentions, forward, replyTo } = send;
        const { async: _never, once: _key, payload: own, ...how } = options;
        return { content, mentions, forward, replyTo, ...how, label, payload: payload ?? own };
      });
    },
  };
};

// Creates campaigns: one message for many recipients, or a message for each.

const common = { credential: 'instance', tag: 'sender', requestHeaders: campaignHeaders } as const;

const yearMs = 31_622_400_000;
/**
 * Bounds for reading a time. A number up to `mostMinutes`, which is ten years, is in minutes from now. A larger number is a time in Unix seconds, and
 * from `mostSeconds` on in Unix milliseconds.
 */
const mostMinutes = 5_256_000;
const mostSeconds = 1e11;

const isoTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?<zone>Z|[+-]\d\d:?\d\d)?)?$/i;

/** Returns the Unix milliseconds of an ISO time. A time without a zone is in UTC. Other values are returned unchanged. */
const readTime = (written: unknown): unknown => {
  const match = typeof written === 'string' ? isoTime.exec(written.trim()) : null;
  if (match === null) return written;
  const zone = match[0].length > 10 && match.groups?.['zone'] === undefined ? 'Z' : '';
  const at = Date.parse(match[0].replace(' ', 'T') + zone);
  // A time before 1973 is a smaller number, which would be read as minutes or seconds. This bound is returned instead, because it is also a time in the past.
  return Number.isNaN(at) ? written : Math.max(at, mostSeconds);
};

/** Converts a body: lists of numbers that are one text, and times in ISO form. */
const relevantFields = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  ...listedNumbers(body),
  ...(body?.['scheduled_for'] === undefined ? {} : { scheduled_for: readTime(body['scheduled_for']) }),
});

/** Returns the Unix milliseconds of a time from a client: minutes from now, or a time in Unix milliseconds or seconds. */
const scheduleOf = (written: number, now: number): Result<number> => {
  const at = written <= mostMinutes ? now + written * 60_000 : written < mostSeconds ? written * 1000 : written;
  return at > now + yearMs ? refuse('invalid', 'scheduled_for is more than a year away') : done(at);
};

const createdRefusals = {
  ...fileRefusals,
  notSent: {},
  conflict: otherRequest,
  notFound: { example: 'instance not found' },
  limited: { example: 'an instance has at most 100 campaigns under way' },
} as const;

const createdView = ({ id, remainingMs, ...counts }: CreatedCampaign) => ({
  folder_id: id,
  status: 'queued',
  ...counts,
  ...(remainingMs === undefined ? {} : { remaining_seconds: Math.ceil(remainingMs / 1000) }),
});

type Message = Readonly<Record<string, unknown>> & { readonly type: CampaignType };

const simpleRow = (messages: CampaignMessages, bodyLimit: BodyLimit): Route => {
  const Body = SimpleBody(messages.fields);
  const known = Object.keys(Body.properties);
  return route({
    ...common,
    on: ['POST /sender/simple'],
    operationId: 'sendSimpleCampaign',
    summary:
      'Send one message to many, one after the other: texts may have placeholders such as {{name}}. A number that is given twice gets it once',
    relevantFields,
    body: Body,
    examples: {
      body: {
        numbers: ['5511999999999', '5511888888888'],
        type: 'text',
        text: 'Hello {{name}}, we open at nine tomorrow.',
        folder: 'January',
        delayMin: 10,
        delayMax: 30,
        scheduled_for: 0,
      } as never,
    },
    bodyLimit,
    answer: CreatedAnswer,
    refusals: createdRefusals,
    run: async ({ gateway, id, body, now, request }) => {
      const { numbers, folder = '', info = '', delayMin, delayMax, scheduled_for: scheduled, ...content } = body;
      const shared = messages.read(content as Message, now, { label: '/sender/simple' });
      if (!shared.ok) return shared;
      const scheduledFor = scheduleOf(scheduled, now);
      if (!scheduledFor.ok) return scheduledFor;
      const input: CampaignInput = {
        info: [folder, info].filter((text) => text !== '').join(': '),
        delayMin: delayMin * 1000,
        delayMax: delayMax * 1000,
        scheduledFor: scheduledFor.value,
        shared: shared.value,
        recipients: numbers.map((number) => ({ number: String(number), own: null })),
        ...onceOf(request, '/sender/simple', picked(body, known)),
      };
      return mapResult(await gateway.createCampaign(id, input), createdView);
    },
  });
};

const ownMessages = (
  messages: CampaignMessages,
  given: readonly (Message & { readonly number: string | number })[],
  now: number,
): Result<CampaignInput['recipients']> => {
  const recipients: { readonly number: string; readonly own: CampaignSend }[] = [];
  for (const [at, { number, ...content }] of given.entries()) {
    const own = messages.read(content as Message, now, { label: '/sender/advanced' });
    if (!own.ok) return refuse(own.refusal.reason, `messages.${at}: ${own.refusal.message}`);
    recipients.push({ number: String(number), own: own.value });
  }
  return done(recipients);
};

const advancedRow = (messages: CampaignMessages, bodyLimit: BodyLimit): Route => {
  const Body = AdvancedBody(messages.fields);
  const [known, ofMessage] = [Object.keys(Body.properties), Object.keys(Body.properties.messages.items.properties)];
  return route({
    ...common,
    on: ['POST /sender/advanced'],
    operationId: 'sendAdvancedCampaign',
    summary: 'Send messages of their own to many, one after the other, in the order in which they are given',
    relevantFields,
    body: Body,
    examples: {
      body: {
        delayMin: 10,
        delayMax: 30,
        info: 'January',
        messages: [
          { number: '5511999999999', type: 'text', text: 'Your order has left.' },
          { number: '5511888888888', type: 'image', file: 'https://example.com/offer.jpg', text: 'The offer of the week' },
        ],
      } as never,
    },
    bodyLimit,
    answer: CreatedAnswer,
    refusals: createdRefusals,
    run: async ({ gateway, id, body, now, request }) => {
      const { delayMin, delayMax, info = '', scheduled_for: scheduled = 0, messages: given } = body;
      const scheduledFor = scheduleOf(scheduled, now);
      if (!scheduledFor.ok) return scheduledFor;
      const recipients = ownMessages(messages, given as unknown as Parameters<typeof ownMessages>[1], now);
      if (!recipients.ok) return recipients;
      const least = delayMin ?? Math.min(usualDelay.min, delayMax ?? usualDelay.min);
      const input: CampaignInput = {
        info,
        delayMin: least * 1000,
        delayMax: (delayMax ?? Math.max(usualDelay.max, least)) * 1000,
        scheduledFor: scheduledFor.value,
        shared: null,
        recipients: recipients.value,
        ...onceOf(request, '/sender/advanced', { ...picked(body, known), messages: given.map((one) => picked(one, ofMessage)) }),
      };
      return mapResult(await gateway.createCampaign(id, input), createdView);
    },
  });
};

export const creationRows = (messages: CampaignMessages, bodyLimit: BodyLimit): readonly Route[] => [
  simpleRow(messages, bodyLimit),
  advancedRow(messages, bodyLimit),
];
