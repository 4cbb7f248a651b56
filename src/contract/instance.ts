/** The API representation of instances: their records and limits, and linking with a passkey. */
import { Type } from 'typebox';
import { statuses } from '#actors/gateway.ts';
import type { AccountLimits, Looked, NewChatCap, PasskeyNotice, TimeLock } from '#actors/model.ts';
import type { InstanceView } from '#actors/views.ts';
import { keyView } from './chatbot.ts';
import { fieldsOf } from './fields.ts';
import { FreeObject, OneOf, optional } from './shapes.ts';
import { isoTime, timeText } from './formats.ts';

// The API representation of an instance (`Instance` of the OpenAPI document).

interface ShownInstance extends InstanceView {
  /** The time of the view, in Unix milliseconds. */
  readonly now: number;
}

const text = Type.String();
const flag = Type.Boolean();
const whole = Type.Integer();

/** The fields of an instance. `ai_apikey` only shows whether a key is set. */
const instance = fieldsOf<ShownInstance>()({
  id: [Type.String({ description: 'r and 14 hex digits' }), ({ record }) => record.id],
  token: [text, ({ record }) => record.token],
  status: [OneOf(statuses), ({ status }) => status],
  paircode: [text, ({ paircode }) => paircode],
  qrcode: [text, ({ qrcode }) => qrcode],
  name: [text, ({ record }) => record.name],
  profileName: [text, ({ record }) => record.profileName],
  profilePicUrl: [text, ({ record }) => record.profilePicUrl],
  isBusiness: [flag, ({ record }) => record.isBusiness],
  plataform: [text, ({ record }) => record.platform.toLowerCase()],
  systemName: [text, ({ record }) => record.systemName],
  browser: [text, ({ record }) => record.browser],
  system: [text, ({ record }) => record.system],
  owner: [text, ({ record }) => record.owner],
  current_presence: [OneOf(['available', 'unavailable']), ({ presence }) => presence],
  lastDisconnect: [text, ({ record }) => timeText(record.lastDisconnect)],
  lastDisconnectReason: [text, ({ record }) => record.lastDisconnectReason],
  adminField01: [text, ({ record }) => record.adminField01],
  adminField02: [text, ({ record }) => record.adminField02],
  ai_apikey: [text, ({ record }) => keyView(record.aiApikey !== '')],
  chatbot_enabled: [flag, ({ record }) => record.chatbotEnabled],
  chatbot_ignoreGroups: [flag, ({ record }) => record.chatbotIgnoreGroups],
  chatbot_stopConversation: [text, ({ record }) => record.chatbotStopConversation],
  chatbot_stopMinutes: [whole, ({ record }) => record.chatbotStopMinutes],
  chatbot_stopWhenYouSendMsg: [whole, ({ record }) => record.chatbotStopWhenYouSendMsg],
  msg_delay_min: [whole, ({ record }) => record.msgDelayMin],
  msg_delay_max: [whole, ({ record }) => record.msgDelayMax],
  proxy_managed_country: [text, ({ record }) => record.proxy?.region.country ?? ''],
  fieldsMap: [optional(FreeObject('Present only if it was set')), ({ record }) => record.fieldsMap ?? undefined],
  currentTime: [text, ({ now }) => timeText(now)],
  created: [text, ({ record }) => timeText(record.created)],
  updated: [text, ({ record }) => timeText(record.updated)],
});

export const instanceFields = instance.schemas;

/** Makes the view of an instance. `now`: Unix milliseconds. */
export const instanceView = (view: InstanceView, now: number) => instance.view({ ...view, now });

// The API representation of the limits of an account.

/** Makes an object with the time as its only field. The object is empty if the time is unknown. */
const moment = <Name extends string>(name: Name, ms: number | null): { readonly [N in Name]?: string } =>
  (ms === null ? {} : { [name]: isoTime(ms) }) as { readonly [N in Name]?: string };

const notKnown = ({ error }: { readonly error: string }) => ({ available: false, lookup_error: error });

/** Makes the view of the time-lock. `until` is present only while the time-lock is active. */
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

/** The path of the operation that returns all limits of an account. */
export const limitsEndpoint = '/instance/wa_messages_limits';

/** Sentences about the limits of an account, each in English and in Portuguese. */
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

/** Makes the view of linking with a passkey. */
export const passkeyNotice = ({ stage, code, expiresAt }: PasskeyNotice) => ({ stage, code, expires: timeText(expiresAt) });
