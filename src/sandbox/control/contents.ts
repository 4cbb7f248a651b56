/** Schemas of the control interface: those that several routes share, and the bodies of messages and channel posts. */
import { type TProperties, type TSchema, Type } from 'typebox';
import { type Content, type GroupView, type PersonView, SandboxError } from '../interface.ts';

// Schemas that several routes of the control interface share. The views have the types of the `Sandbox` interface.

const MIB = 1024 * 1024;

/** The largest size of a request body on routes that accept pictures or media, in bytes. All other routes have `bodyLimit`. */
export const mediaBodyLimit = 24 * MIB;
export const bodyLimit = MIB;

export const Digits = Type.String({
  pattern: '^[1-9][0-9]{6,14}$',
  description: 'an international number, 7 to 15 digits only',
  examples: ['5511988880001'],
});
export const GroupJid = Type.String({
  pattern: '^[0-9-]{5,40}@g\\.us$',
  description: 'the jid of a group, such as 120363000000000001@g.us',
});
export const ChannelJid = Type.String({
  pattern: '^[0-9]{5,25}@newsletter$',
  description: 'the jid of a channel, such as 120363000000000001@newsletter',
});
export const Recipient = Type.String({
  pattern: '^([1-9][0-9]{6,14}|[0-9-]{5,40}@g\\.us)$',
  description: 'an international number, digits only, or the jid of a group',
});
export const Name = Type.String({ minLength: 1, maxLength: 100, description: 'a name of 1 to 100 characters' });
export const MessageId = Type.String({ minLength: 1, maxLength: 128, description: 'the messageid of the platform' });
export const Participants = Type.Array(Digits, { minItems: 1, maxItems: 1024, description: 'a list of 1 to 1024 numbers' });

export const addressing = (description: string) => Type.Enum(['pn', 'lid'], { description });

export const NumberParams = Type.Object({ number: Digits });

/** The answer of a route without a result. */
export const Done = Type.Object({ ok: Type.Literal(true) });
export const done = { ok: true } as const;

const ErrorBody = Type.Object({ error: Type.String() });

/** Returns the schemas of a route's answers: the given schema, and the schema of all errors. */
export const answers = <T extends TSchema>(success: T) => ({ 200: success, '4xx': ErrorBody, '5xx': ErrorBody });

const Device = Type.Object({
  device: Type.Integer({ description: 'Device number, 1 or more' }),
  linkedAt: Type.Number({ description: 'Unix time in milliseconds' }),
  connected: Type.Boolean(),
  pushName: Type.String(),
  address: Type.Optional(Type.String({ description: 'Where the connection came from, `address:port`' })),
  queued: Type.Integer({ description: 'Stanzas that wait for the device' }),
});

export const Person = Type.Unsafe<PersonView>(
  Type.Object({
    number: Type.String(),
    lid: Type.String({ description: 'Alternative identifier, 15 digits' }),
    name: Type.String(),
    devices: Type.Array(Device),
  }),
);
export const People = Type.Unsafe<readonly PersonView[]>(Type.Array(Person));

const Participant = Type.Object({
  number: Type.String(),
  admin: Type.Union([Type.Literal('admin'), Type.Literal('superadmin'), Type.Null()]),
});

export const Group = Type.Unsafe<GroupView>(
  Type.Object({
    jid: Type.String(),
    subject: Type.String(),
    description: Type.String(),
    creator: Type.String(),
    announce: Type.Boolean({ description: 'Only admins may write' }),
    locked: Type.Boolean({ description: 'Only admins may change the group' }),
    participants: Type.Array(Participant),
  }),
);
export const Groups = Type.Unsafe<readonly GroupView[]>(Type.Array(Group));

// Parses base64 input, bare or in a data URL.

const dataUrl = /^data:([^;,]*)((?:;[^;,]*)*),/;

/** Returns the base64 without white space, and the media type of a data URL (else ''). Throws a 400 for any other input. */
export const parseBase64 = (input: string, field: string): { readonly mimetype: string; readonly data: string } => {
  const head = dataUrl.exec(input.slice(0, 256));
  if (input.startsWith('data:') && !head?.[2]?.endsWith(';base64')) throw new SandboxError(400, `${field} must be a base64 data URL`);
  const data = input.slice(head?.[0].length ?? 0).replace(/\s+/g, '');
  if (data === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw new SandboxError(400, `${field} must be base64 or a base64 data URL`);
  return { mimetype: head?.[1] ?? '', data };
};

// The body of the route by which a person sends: one schema for each kind of content, chosen by `type`.

const Text = Type.String({ minLength: 1, maxLength: 65_536, description: 'a text of 1 to 65536 characters' });
const Options = (minItems: number) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems, maxItems: 12, description: `a list of ${minItems} to 12 options` });

const ProductId = Type.String({ minLength: 1, maxLength: 64, description: 'the id of a product' });

const media = {
  data: Type.String({ minLength: 1, description: 'the bytes as base64 or as a data URL' }),
  mimetype: Type.Optional(Type.String({ maxLength: 255, description: 'default: the one of the data URL' })),
  caption: Type.Optional(Type.String({ maxLength: 65_536 })),
  fileName: Type.Optional(Type.String({ maxLength: 255 })),
  seconds: Type.Optional(Type.Number({ minimum: 0, description: 'a length in seconds' })),
};

const fieldsOf: Readonly<Record<Content['kind'], TProperties>> = {
  text: {
    text: Text,
    replyTo: Type.Optional(MessageId),
    mentions: Type.Optional(Type.Array(Digits, { maxItems: 1024 })),
    forwarded: Type.Optional(Type.Boolean()),
  },
  image: media,
  video: media,
  gif: media,
  audio: media,
  ptt: media,
  document: media,
  sticker: media,
  reaction: { messageId: MessageId, emoji: Type.String({ maxLength: 64, description: 'an emoji; an empty one takes the reaction back' }) },
  edit: {
    messageId: MessageId,
    text: Text,
    secret: Type.Optional(Type.Boolean({ description: 'encrypted under the secret of the message that it changes' })),
  },
  delete: { messageId: MessageId },
  pin: { messageId: MessageId, seconds: Type.Integer({ minimum: 0, maximum: 2_592_000, description: 'seconds; 0 takes the pin away' }) },
  keep: { messageId: MessageId, on: Type.Boolean() },
  poll: {
    name: Type.String({ minLength: 1, maxLength: 255 }),
    options: Options(2),
    selectable: Type.Optional(Type.Integer({ minimum: 0, maximum: 12 })),
  },
  pollVote: { messageId: MessageId, options: Options(0) },
  tap: {
    messageId: MessageId,
    option: Type.String({ minLength: 1, maxLength: 1024, description: 'the id or the label of a button or a row' }),
    form: Type.Optional(Type.Enum(['native', 'buttons', 'list', 'template'])),
    latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
    longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
  },
  contact: { displayName: Name, vcard: Type.String({ minLength: 1, maxLength: 65_536 }) },
  location: {
    latitude: Type.Number({ minimum: -90, maximum: 90 }),
    longitude: Type.Number({ minimum: -180, maximum: 180 }),
    name: Type.Optional(Type.String({ maxLength: 255 })),
  },
  event: {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    startTime: Type.Integer({ minimum: 1, description: 'Unix time in seconds' }),
    description: Type.Optional(Type.String({ maxLength: 2048 })),
    isCanceled: Type.Optional(Type.Boolean()),
  },
  eventAnswer: {
    messageId: MessageId,
    answer: Type.Enum(['going', 'notGoing', 'maybe']),
    extraGuests: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  },
  eventEdit: {
    messageId: MessageId,
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    isCanceled: Type.Optional(Type.Boolean()),
  },
  product: { owner: Digits, productId: ProductId, text: Type.Optional(Type.String({ maxLength: 4096 })) },
  order: {
    owner: Digits,
    items: Type.Array(Type.Object({ productId: ProductId, quantity: Type.Integer({ minimum: 1, maximum: 99 }) }), {
      minItems: 1,
      maxItems: 100,
      description: 'a list of 1 to 100 products',
    }),
    text: Type.Optional(Type.String({ maxLength: 4096 })),
  },
  message: { message: Type.Record(Type.String(), Type.Unknown(), { description: 'any message of the protocol as JSON, bytes in base64' }) },
};

const addressed = {
  to: Recipient,
  addressing: Type.Optional(addressing('Which identifier of the sender the stanza carries')),
};

interface Addressed {
  readonly to: string;
  readonly addressing?: 'pn' | 'lid';
}
type Body<C> = C extends { readonly kind: infer K } ? Omit<C, 'kind'> & { readonly type: K } & Addressed : never;
type MessageFields = Body<Content>;
type PostFields = Body<Content> & { readonly by?: string };

const branches = (more: TProperties) =>
  Object.entries(fieldsOf).map(([type, fields]) =>
    Type.Object({ type: Type.Literal(type), ...more, ...fields }, { additionalProperties: false, title: type }),
  );

/** The body of a channel's post. It has the same contents as a message, but no receiver. */
export const PostBody = Type.Unsafe<PostFields>({
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: branches({ by: Type.Optional(Digits) }),
});

/** The body of a message. With the discriminator, errors are about the chosen type only. Fields of other types are dropped. */
export const MessageBody = Type.Unsafe<MessageFields>({
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: branches(addressed),
});

/** Fields of a body that are not content. */
const outside = new Set(['to', 'addressing', 'by']);

/** Converts a body to the content that the `Sandbox` interface accepts. */
export const contentOf = (body: MessageFields | PostFields): Content => {
  const { type: kind, ...rest } = body;
  const fields = Object.fromEntries(Object.entries(rest).filter(([name]) => !outside.has(name)));
  // The schema has checked that the fields belong to the kind. The compiler no longer knows this after the union was destructured.
  const content = { kind, ...fields } as Content;
  if (!('data' in content)) return content;
  const { data, mimetype } = parseBase64(content.data, 'data');
  return mimetype !== '' && content.mimetype === undefined ? { ...content, data, mimetype } : { ...content, data };
};
