/** Instances as the interface spells them: their records, limits and proxies, linking with a passkey, and the server. */
import { maskedProxy, type ProxyCatalogue, type ProxyCountry, type ProxyView } from '#actors/gateway.ts';
import type { AccountLimits, Looked, NewChatCap, PasskeyNotice, TimeLock } from '#actors/model.ts';
import type { InstanceView, StatusCounts } from '#actors/views.ts';
import { keyView } from './chatbot.ts';
import { isoTime, timeText } from './formats.ts';

// An instance as the interface spells it (`Instance` of the OpenAPI document).

/** `now` becomes `currentTime`; `fieldsMap` appears only when it was set. Of the key for the chatbot only whether there is one. */
export const instanceView = ({ record, status, qrcode, paircode, presence }: InstanceView, now: number) => ({
  id: record.id,
  token: record.token,
  status,
  paircode,
  qrcode,
  name: record.name,
  profileName: record.profileName,
  profilePicUrl: record.profilePicUrl,
  isBusiness: record.isBusiness,
  plataform: record.platform.toLowerCase(),
  systemName: record.systemName,
  browser: record.browser,
  system: record.system,
  owner: record.owner,
  current_presence: presence,
  lastDisconnect: timeText(record.lastDisconnect),
  lastDisconnectReason: record.lastDisconnectReason,
  adminField01: record.adminField01,
  adminField02: record.adminField02,
  ai_apikey: keyView(record.aiApikey !== ''),
  chatbot_enabled: record.chatbotEnabled,
  chatbot_ignoreGroups: record.chatbotIgnoreGroups,
  chatbot_stopConversation: record.chatbotStopConversation,
  chatbot_stopMinutes: record.chatbotStopMinutes,
  chatbot_stopWhenYouSendMsg: record.chatbotStopWhenYouSendMsg,
  msg_delay_min: record.msgDelayMin,
  msg_delay_max: record.msgDelayMax,
  proxy_managed_country: record.proxy?.region.country ?? '',
  ...(record.fieldsMap === null ? {} : { fieldsMap: record.fieldsMap }),
  currentTime: timeText(now),
  created: timeText(record.created),
  updated: timeText(record.updated),
});

// The limits of an account as the interface spells them.

/** A moment as a field of its own, absent when it is not known. */
const moment = <Name extends string>(name: Name, ms: number | null): { readonly [N in Name]?: string } =>
  (ms === null ? {} : { [name]: isoTime(ms) }) as { readonly [N in Name]?: string };

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

// Proxies in the interface's spelling; passwords never leave.

export const proxyView = ({ settings, effective }: ProxyView) => ({
  mode: settings.mode,
  effective_mode: effective,
  ...(effective === 'internal'
    ? { effective_detail: settings.managedUrl === '' ? ('internal_route' as const) : ('managed_pool' as const) }
    : {}),
  fallback: {
    active: settings.fallbackSince !== null,
    ...(settings.fallbackSince === null ? {} : { reason: settings.fallbackReason, since: settings.fallbackSince }),
  },
  proxy_url: maskedProxy(settings.url),
  proxy_fallback: settings.fallback ? 'internal' : '',
  managed: effective === 'internal' && settings.managedUrl !== '',
  proxy_managed_country: settings.region.country,
  proxy_managed_state: settings.region.state,
  proxy_managed_city: settings.region.city,
  ...(settings.lastTestAt === null ? {} : { last_test_at: settings.lastTestAt }),
  last_test_error: settings.lastTestError,
  validation_error: settings.lastTestError !== '',
});

export const countriesView = (catalogue: ProxyCatalogue) => ({ countries: catalogue.map(({ value, label }) => ({ value, label })) });

const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase();

/** `search` finds parts of names, whatever their accents. */
export const citiesView = ({ value: country, cities }: ProxyCountry, state: string, search: string) => ({
  country,
  state,
  cities: cities
    .filter((city) => (state === '' || city.state === state) && plain(`${city.label} ${city.value}`).includes(plain(search)))
    .map(({ value, label, state: of, stateLabel, rawCity }) => ({ value, label, state: of, state_label: stateLabel, raw_city: rawCity })),
});

// The state of the server, which callers without a credential may read.

export interface ServerHealth {
  /** The database answers, and the server takes requests. */
  readonly healthy: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

const nobody = 'No instance is connected.';

/** With a connected instance its state is an object; without any it is a warning, as live servers answer. */
export const serverStatusView = (
  { total, connected, disconnected, reconnecting, connecting }: StatusCounts,
  { healthy, now }: ServerHealth,
) => ({
  status:
    connected === 0
      ? 'warning'
      : {
          server_status: healthy ? 'running' : 'degraded',
          checked_instance: { is_healthy: healthy },
          last_check: isoTime(now),
          dc: '',
        },
  ...(connected === 0 ? { connected_instances: 0, info: nobody } : {}),
  instance_counts: { total, connected, disconnected, reconnecting, connecting },
});

/** Linking with a passkey as the interface spells it. */
export const passkeyNotice = ({ stage, code, expiresAt }: PasskeyNotice) => ({ stage, code, expires: timeText(expiresAt) });
