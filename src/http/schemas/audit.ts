/** Shapes of the audit log. */
import { Type } from 'typebox';
import { auditActors } from '#actors/gateway.ts';
import { Count, OneOf, optional, Text } from './common.ts';

const Moment = (description: string) => Count(0, 8_640_000_000_000_000, `${description}, in Unix milliseconds`);

export const AuditQueryShape = Type.Object({
  who: optional(Text(100, 'Name of a user, or id of the instance whose token was used')),
  actor: optional(OneOf(auditActors, { description: 'Kind of the caller' })),
  instance: optional(Text(100, 'Id of the instance that the request was about')),
  from: optional(Moment('The earliest entry')),
  to: optional(Moment('Entries before this time')),
  before: optional(Count(1, Number.MAX_SAFE_INTEGER, 'Entries before the entry of this id, as `next` of the page before')),
  limit: optional(Count(1, 1000, 'Entries of one page; 100 when it is left out. An export has no pages')),
  format: optional(
    OneOf(['json', 'ndjson', 'csv'], {
      description: 'json: one page. ndjson and csv: an export of all entries that fit, the latest first',
    }),
  ),
});

export const AuditAnswer = Type.Object({
  entries: Type.Array(
    Type.Object({
      id: Type.Integer(),
      at: Type.Number({ description: 'In Unix milliseconds' }),
      actor: OneOf(auditActors, { description: 'Kind of the caller' }),
      who: Type.String({ description: 'Name of the user, or id of the instance whose token was used; empty for the admin token' }),
      address: Type.String({ description: 'From where the request came, as TRUSTED_PROXIES lets the gateway see it' }),
      method: Type.String(),
      route: Type.String({ description: 'The pattern of the address' }),
      instance: Type.String({ description: 'Id of the instance that the request was about; empty for none' }),
      subject: Type.String({ description: 'The user, node or session that the request was about; empty for none' }),
      status: Type.Integer({ description: 'Of the answer; 0 if the client went before it' }),
    }),
  ),
  next: Type.Unsafe<number | null>({ type: ['integer', 'null'], description: '`before` of the next page; null on the last one' }),
});
