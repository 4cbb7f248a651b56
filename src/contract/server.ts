/** The API representation of proxies, of the server's state and of dashboard sessions. */
import { Type } from 'typebox';
import {
  maskedProxy,
  type OpenSession,
  type ProxyCatalogue,
  type ProxyCountry,
  proxyModes,
  type ProxyView,
  roles,
} from '#actors/gateway.ts';
import type { StatusCounts } from '#actors/views.ts';
import { fieldsOf } from './fields.ts';
import { isoTime } from './formats.ts';
import { Flag, OneOf, optional } from './shapes.ts';

const text = Type.String();
const whole = Type.Integer();

// The API representation of proxies, which never shows passwords.

type Settings = ProxyView['settings'];

const fallback = fieldsOf<Settings>()({
  active: [Flag('The proxy failed, and the fallback is in use'), ({ fallbackSince }) => fallbackSince !== null],
  reason: [
    optional(Type.String({ examples: ['custom_failed_internal:the proxy failed: it refuses connections'] })),
    ({ fallbackSince, fallbackReason }) => (fallbackSince === null ? undefined : fallbackReason),
  ],
  since: [optional(Type.Integer({ description: 'Unix milliseconds' })), ({ fallbackSince }) => fallbackSince ?? undefined],
});

const proxy = fieldsOf<ProxyView>()({
  mode: [OneOf(proxyModes), ({ settings }) => settings.mode],
  effective_mode: [
    OneOf(['custom', 'internal', 'direct'], { description: 'Proxy that connections use now' }),
    ({ effective }) => effective,
  ],
  effective_detail: [
    optional(OneOf(['managed_pool', 'internal_route', 'relay'], { description: 'With effective_mode internal' })),
    ({ settings, effective }) => {
      if (effective !== 'internal') return undefined;
      return settings.managedUrl === '' ? 'internal_route' : 'managed_pool';
    },
  ],
  fallback: [Type.Object(fallback.schemas), ({ settings }) => fallback.view(settings)],
  proxy_url: [
    Type.String({ description: 'Credentials are masked', examples: ['http://***:***@proxy.example.com:8080'] }),
    ({ settings }) => maskedProxy(settings.url),
  ],
  proxy_fallback: [Type.String({ description: 'internal, or empty' }), ({ settings }) => (settings.fallback ? 'internal' : '')],
  managed: [
    Flag('A proxy of the catalogue is in use'),
    ({ settings, effective }) => effective === 'internal' && settings.managedUrl !== '',
  ],
  proxy_managed_country: [text, ({ settings }) => settings.region.country],
  proxy_managed_state: [text, ({ settings }) => settings.region.state],
  proxy_managed_city: [text, ({ settings }) => settings.region.city],
  last_test_at: [
    optional(Type.Integer({ description: 'Unix milliseconds of the last test, or of the last use that failed' })),
    ({ settings }) => settings.lastTestAt ?? undefined,
  ],
  last_test_error: [text, ({ settings }) => settings.lastTestError],
  validation_error: [Flag('The last test failed'), ({ settings }) => settings.lastTestError !== ''],
});

export const proxyFields = proxy.schemas;
export const proxyView = proxy.view;

const country = fieldsOf<ProxyCountry>()({ value: [text, ({ value }) => value], label: [text, ({ label }) => label] });

export const countryFields = country.schemas;
export const countriesView = (catalogue: ProxyCatalogue) => ({ countries: catalogue.map(country.view) });

const city = fieldsOf<ProxyCountry['cities'][number]>()({
  value: [text, ({ value }) => value],
  label: [text, ({ label }) => label],
  state: [text, ({ state }) => state],
  state_label: [text, ({ stateLabel }) => stateLabel],
  raw_city: [text, ({ rawCity }) => rawCity],
});

export const cityFields = city.schemas;

const plain = (given: string): string =>
  given
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase();

/** Makes the view of cities. `search` matches parts of names and ignores accents. */
export const citiesView = ({ value: of, cities }: ProxyCountry, state: string, search: string) => ({
  country: of,
  state,
  cities: cities
    .filter((one) => (state === '' || one.state === state) && plain(`${one.label} ${one.value}`).includes(plain(search)))
    .map(city.view),
});

// The state of the server, which callers without a credential may read.

interface ServerHealth {
  readonly counts: StatusCounts;
  /** True if the database answers and the server accepts requests. */
  readonly healthy: boolean;
  /** The time of the answer, in Unix milliseconds. */
  readonly now: number;
}

const running = fieldsOf<ServerHealth>()({
  server_status: [
    Type.String({ description: '`running`; `degraded` while the database is away or the server stops' }),
    ({ healthy }) => (healthy ? 'running' : 'degraded'),
  ],
  checked_instance: [Type.Object({ is_healthy: Type.Boolean() }), ({ healthy }) => ({ is_healthy: healthy })],
  last_check: [Type.String({ format: 'date-time' }), ({ now }) => isoTime(now)],
  dc: [Type.String({ description: 'Always empty: there is one location' }), () => ''],
});

const counts = fieldsOf<StatusCounts>()({
  total: [whole, ({ total }) => total],
  connected: [whole, ({ connected }) => connected],
  disconnected: [whole, ({ disconnected }) => disconnected],
  reconnecting: [whole, ({ reconnecting }) => reconnecting],
  connecting: [whole, ({ connecting }) => connecting],
});

const nobody = 'No instance is connected.';

/** The status is an object if an instance is connected. Otherwise the status is the text `warning`, as in answers of live servers. */
const serverStatus = fieldsOf<ServerHealth>()({
  status: [
    Type.Union([Type.Object(running.schemas), Type.String({ description: '`warning` while no instance is connected' })]),
    (server) => (server.counts.connected === 0 ? 'warning' : running.view(server)),
  ],
  connected_instances: [
    optional(Type.Integer({ description: '0; only while no instance is connected' })),
    (server) => (server.counts.connected === 0 ? 0 : undefined),
  ],
  info: [optional(text), (server) => (server.counts.connected === 0 ? nobody : undefined)],
  instance_counts: [Type.Object(counts.schemas), (server) => counts.view(server.counts)],
});

export const serverStatusFields = serverStatus.schemas;
export const serverStatusView = serverStatus.view;

// Sessions of the dashboard.

export const RoleName = OneOf(roles, {
  description:
    'viewer: reads the state of sessions and of the server. operator: also connects, disconnects and restarts sessions, and replays events. administrator: everything',
});

interface ShownSession extends OpenSession {
  /** True for the session of the request. */
  readonly own: boolean;
}

const session = fieldsOf<ShownSession>()({
  id: [Type.String({ description: 'A hash of the cookie. It gives no access' }), ({ id }) => id],
  user: [Type.String({ description: 'Name of the user; empty for the admin token' }), ({ user }) => user?.name ?? ''],
  userId: [text, ({ user }) => user?.id ?? ''],
  role: [RoleName, ({ user }) => user?.role ?? 'administrator'],
  address: [Type.String({ description: 'The address of the client at sign-in; empty if it is not known' }), ({ address }) => address],
  since: [Type.Number({ description: 'The time of the sign-in; 0 if it is not known, in Unix milliseconds' }), ({ since }) => since],
  until: [Type.Number({ description: 'End, in Unix milliseconds' }), ({ until }) => until],
  own: [Flag('True for the session of this request'), ({ own }) => own],
});

export const sessionFields = session.schemas;
export const sessionView = session.view;
