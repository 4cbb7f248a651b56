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
  before: optional(Count(1, Number.MAX_SAFE_INTEGER, 'Entries before the entry with this id. Use `next` of the previous page')),
  limit: optional(Count(1, 1000, 'Entries of one page, by default 100. An export has no pages')),
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
      address: Type.String({ description: 'The address of the client, by the rules of TRUSTED_PROXIES' }),
      method: Type.String(),
      route: Type.String({ description: 'The pattern of the address' }),
      instance: Type.String({ description: 'Id of the instance that the request was about; empty for none' }),
      subject: Type.String({ description: 'The user, node or session that the request was about; empty for none' }),
      status: Type.Integer({ description: 'The status of the answer; 0 if the client disconnected before the answer' }),
    }),
  ),
  next: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'The value of `before` for the next page; null on the last page',
  }),
});
