/** The platform's limits for messages to strangers. Clients are notified of changes of the limits, and messages beyond a limit are refused. */
import type { Restrictions } from './interface.ts';
import { node, platformJid, unixSeconds } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Person } from './people.ts';

const seconds = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : unixSeconds(ms));

export const timeLockOf = ({ restrictions }: Person) => {
  const { active = false, until, type } = restrictions?.timeLock ?? {};
  return { is_active: active, time_enforcement_ends: seconds(active ? until : undefined) ?? '0', enforcement_type: type ?? 'DEFAULT' };
};

export const cappingOf = ({ restrictions }: Person) => {
  const { status = 'NONE', used, total, cycleStart, cycleEnd } = restrictions?.capping ?? {};
  return {
    capping_status: status,
    used_quota: used ?? null,
    total_quota: total ?? null,
    cycle_start_timestamp: seconds(cycleStart),
    cycle_end_timestamp: seconds(cycleEnd),
    server_sent_timestamp: unixSeconds(Date.now()),
    ote_status: status === 'CAPPED' ? 'EXHAUSTED' : 'NOT_ELIGIBLE',
    mv_status: 'NOT_ELIGIBLE',
  };
};

/** Returns the code that refuses a message to a stranger; undefined if the account is not restricted. */
export function restrictionCode({ restrictions }: Person): string | undefined {
  const { timeLock, capping } = restrictions ?? {};
  if (timeLock?.active && (timeLock.until === undefined || timeLock.until > Date.now())) return '463';
  return capping?.status === 'CAPPED' ? '475' : undefined;
}

/** Changes the restrictions, and notifies the account's clients of the change. */
export function restrict(parts: Parts, person: Person, change: Restrictions): void {
  person.restrictions = { ...person.restrictions, ...change };
  parts.people.save(person);
  const news: [string, object][] = [];
  if (change.timeLock) news.push(['NotificationUserReachoutTimelockUpdate', { xwa2_notify_account_reachout_timelock: timeLockOf(person) }]);
  if (change.capping)
    news.push(['MessageCappingInfoNotification', { xwa2_notify_new_chat_messages_capping_info_update: cappingOf(person) }]);
  for (const [operation, data] of news) {
    for (const device of parts.people.devices(person.number)) {
      const attrs = { from: platformJid, type: 'mex', id: parts.random.id(), t: unixSeconds(Date.now()) };
      const update = node('update', { op_name: operation }, Buffer.from(JSON.stringify({ data })));
      parts.connections.deliver(device, node('notification', attrs, [update]));
    }
  }
}
