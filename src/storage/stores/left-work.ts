/** Finds what earlier owners left of the instances that a node has just taken. */
import type { LeftWork, LeftWorkStore } from '#actors/ports.ts';
import type { Database, Statement } from '../postgres/database.ts';
import { isActive } from './campaigns.ts';

/** Each kind of row has an index of its own, which begins with the webhook and the instance. */
const hasRow = (kind: string): string => `exists (select from outbox where webhook_id = webhook.id and instance_id = asked.id and ${kind})`;
const webhooksOf = (owner: string): string => `select webhook.id from webhook
        where ${owner} and not webhook.removed and (${hasRow('not_before = 0')} or ${hasRow('not_before > 0')})`;

export const leftWorkStatements = {
  /** $1 instances. */
  of: {
    name: 'left-work',
    text: `select asked.id, waiting.queued, waiting.others > 0 as "isInterrupted",
        array(${webhooksOf('webhook.instance_id = asked.id')} union all ${webhooksOf('webhook.instance_id is null')}) as webhooks,
        exists (select from campaign where campaign.instance_id = asked.id and ${isActive}) as "hasCampaign"
      from unnest($1::text[]) as asked (id), lateral (
        select count(queued_send)::int as queued, (count(*) - count(queued_send))::int as others from message
        where message.instance_id = asked.id and message.status = 'Queued') as waiting`,
  },
} as const satisfies Readonly<Record<string, Statement>>;

export const makeLeftWorkStore = (database: Database): LeftWorkStore => ({
  of: (ids) => database.rows<LeftWork>(leftWorkStatements.of, [ids]),
});
