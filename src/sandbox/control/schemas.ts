/** Schemas that several routes of the control interface share. The views have the types of the face. */
import { type TSchema, Type } from 'typebox';
import { type GroupView, type PersonView, SandboxError } from '../face.ts';

const MIB = 1024 * 1024;

/** Largest body of routes that take pictures or media, in bytes. All other routes have `bodyLimit`. */
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

/** The schemas of a route's answers: its own, and that of all errors. */
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
