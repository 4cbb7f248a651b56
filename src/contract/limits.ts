/** The limits of an account as the interface spells them. */
import type { AccountLimits, Looked, NewChatCap, TimeLock } from '#actors/model.ts';

/** A moment as a field of its own, absent when it is not known. */
const moment = <Name extends string>(name: Name, ms: number | null): { readonly [N in Name]?: string } =>
  (ms === null ? {} : { [name]: new Date(ms).toISOString() }) as { readonly [N in Name]?: string };

const notKnown = ({ error }: { readonly error: string }) => ({ available: false, lookup_error: error });

/** `until` stands there only while the time-lock is active. */
export const timeLockView = (timeLock: Looked<TimeLock>) => {
  if (!timeLock.ok) return notKnown(timeLock);
  const { active, until, kind } = timeLock.value;
  return { available: true, active, ...moment('until', active ? until : null), enforcement_type: kind };
};

export const capView = (cap: Looked<NewChatCap>) => {
  if (!cap.ok) return notKnown(cap);
  const { status, used, total, cycleStart, cycleEnd, sentAt, oteStatus, mvStatus } = cap.value;
  return {
    available: true,
    status,
    used_quota: used,
    total_quota: total,
    ...moment('cycle_start', cycleStart),
    ...moment('cycle_end', cycleEnd),
    ...moment('server_sent_at', sentAt),
    ote_status: oteStatus,
    mv_status: mvStatus,
  };
};

/** The call that shows all limits of an account. */
export const limitsEndpoint = '/instance/wa_messages_limits';

/** In English and in Portuguese. */
const texts = {
  locked: [
    'The account is restricted from starting new chats for now (reach-out time-lock). Chats that exist go on.',
    'A conta está temporariamente impedida de iniciar novas conversas (reach-out time-lock). As conversas existentes continuam.',
  ],
  capped: [
    'The account has used up the new chats of this cycle. Chats that exist go on.',
    'A conta esgotou as novas conversas deste ciclo. As conversas existentes continuam.',
  ],
  free: ['The account may start new chats.', 'A conta pode iniciar novas conversas.'],
  unknown: ['The platform did not tell all limits of the account.', 'A plataforma não informou todos os limites da conta.'],
} as const;

const stateOf = ({ timeLock, cap }: AccountLimits): keyof typeof texts => {
  if (timeLock.ok && timeLock.value.active) return 'locked';
  if (cap.ok && cap.value.status === 'CAPPED') return 'capped';
  return timeLock.ok && cap.ok ? 'free' : 'unknown';
};

export const limitsView = (limits: AccountLimits) => {
  const state = stateOf(limits);
  const { timeLock, cap } = limits;
  const failures = [timeLock, cap].flatMap((one) => (one.ok ? [] : [one.error]));
  const provider = failures.join('; ');
  return {
    provider: 'whatsapp',
    reachable: timeLock.ok || cap.ok,
    can_send_new_messages: state === 'unknown' ? null : state === 'free',
    ...(state === 'locked' ? { error_key: 'WHATSAPP_REACHOUT_TIMELOCK' } : {}),
    message: texts[state][0],
    message_ptbr: texts[state][1],
    ...(failures.length === 0 ? {} : { provider_message: provider, provider_message_ptbr: provider }),
    diagnostics_endpoint: limitsEndpoint,
    new_chat_message_capping: capView(cap),
    reachout_timelock: timeLockView(timeLock),
  };
};
