/** Commands on the proxy of an instance: show, change after a test, remove. */
import type { ProxyChange, ProxyMethods, ProxyView } from '../views.ts';
import {
  done,
  maskedProxy,
  noProxy,
  refuse,
  unknownInstance,
  unreadableIn,
  type InstanceRecord,
  type ProxyRegion,
  type ProxySettings,
  type Result,
} from '../model.ts';
import { unreadableFieldsReason } from '../policy/close-cause.ts';
import { chooseProxies, effectiveOf, routeOf } from '../policy/proxy-choice.ts';
import type { Ports } from '../ports.ts';
import type { Cell } from '../session/cell.ts';
import type { ConnectLimit } from './connect-limit.ts';
import type { WithCells, WithPolicy, WithPorts } from './host.ts';
import type { Register } from './register.ts';

/** The ports and the rules that changes need. */
type ChangePorts = WithPorts<'chance' | 'log' | 'proxies' | 'time'> & WithPolicy<'proxies'>;
type ChangeHost = ChangePorts & { readonly connects: Pick<ConnectLimit, 'take'> };

/** The largest number of managed proxies that are tested for one request. Each test takes time. */
const mostTests = 2;

const noCatalogue = refuse('unavailable', 'managed proxies are not available: the server has no catalogue of them (PROXY_CATALOG)');
const noDirect = refuse('invalid', 'the server allows no connections without a proxy');
const nothingAsked = refuse('invalid', 'mode, proxy_url, proxy_fallback, rotate_now or a region is required');

const viewOf = (settings: ProxySettings): ProxyView => ({ settings, effective: effectiveOf(settings) });

/** Returns the URLs of the managed proxies for a region. An empty list means a connection without a proxy. Refuses a region for which there is neither. */
const managedProxies = ({ ports, policy }: ChangePorts, region: ProxyRegion): Result<readonly string[]> => {
  const { catalogue } = ports.proxies;
  if (catalogue === null) return policy.proxies.direct && region.country === '' ? done([]) : noCatalogue;
  const chosen = chooseProxies(catalogue, region, ports.chance.hex(4), ports.chance.random());
  return chosen.ok ? done(chosen.urls) : refuse('invalid', chosen.message);
};

/** Returns the first proxy that works; '' for an empty list, which means a connection without a proxy. */
const working = async ({ ports }: ChangePorts, urls: readonly string[]): Promise<Result<string>> => {
  let error = '';
  for (const url of urls.slice(0, mostTests)) {
    error = await ports.proxies.test(url, true);
    if (error === '') return done(url);
  }
  return error === '' ? done('') : refuse('unavailable', `no managed proxy of this region works: ${error}`);
};

const toInternal = async (host: ChangePorts, current: ProxySettings, change: ProxyChange): Promise<Result<ProxySettings>> => {
  const region = change.region ?? current.region;
  const found = managedProxies(host, region);
  if (!found.ok) return found;
  const rotate = change.rotate === true;
  if (rotate && host.ports.proxies.catalogue === null) return noCatalogue;
  const others = found.value.filter((url) => url !== current.managedUrl);
  if (rotate && others.length === 0) return refuse('conflict', 'there is no other managed proxy in this region');
  const kept = !rotate && current.mode === 'internal' && change.region === undefined && current.managedUrl !== '';
  const managed = await working(host, kept ? [current.managedUrl, ...others] : rotate ? others : found.value);
  if (!managed.ok) return managed;
  const lastTestAt = managed.value === '' ? null : host.ports.time.now();
  return done({ ...noProxy, mode: 'internal', region, managedUrl: managed.value, lastTestAt });
};

const toCustom = async (host: ChangePorts, current: ProxySettings, change: ProxyChange): Promise<Result<ProxySettings>> => {
  const { proxies, time } = host.ports;
  const before = current.mode === 'custom' ? current : noProxy;
  // A client may send back the masked URL that it read. The stored URL is then kept.
  const url = change.url === undefined || change.url === maskedProxy(before.url) ? before.url : change.url;
  if (url === '') return refuse('invalid', 'proxy_url is required for the mode custom');
  const objection = proxies.objection(url);
  if (objection !== null) return refuse('invalid', objection);
  const fallback = change.fallback ?? before.fallback;
  const region = change.region ?? before.region;
  const managed = fallback ? managedProxies(host, region) : done([]);
  if (!managed.ok) return managed;
  const next = { ...noProxy, mode: 'custom' as const, url, fallback, region, managedUrl: managed.value[0] ?? '' };
  // A change of the fallback alone needs no test. The proxy was tested when it was set, and the fallback is needed most while the proxy fails.
  if (url === before.url && fallback !== before.fallback)
    return done({ ...next, lastTestAt: before.lastTestAt, lastTestError: before.lastTestError });
  const error = await proxies.test(url, false);
  return error === '' ? done({ ...next, lastTestAt: time.now() }) : refuse('invalid', `the proxy does not work: ${error}`);
};

const modeOf = (current: ProxySettings, { mode, url, fallback, region, rotate }: ProxyChange): ProxySettings['mode'] | null => {
  if (mode !== undefined) return mode;
  if (url !== undefined) return 'custom';
  if (rotate === true || region !== undefined) return 'internal';
  return fallback === undefined ? null : current.mode;
};

const underWay = refuse('conflict', 'another change of this proxy is being tested, try again in a moment');

/** Changes the proxies of instances, after tests. */
export class ProxyChanges {
  readonly #host: ChangeHost;
  /** Instances whose proxy is being changed. */
  readonly #changing = new WeakSet<Cell>();

  constructor(host: ChangeHost) {
    this.#host = host;
  }

  /** Returns false if the gateway allows no direct connections, and the instance has no proxy. */
  hasRoute({ proxy }: InstanceRecord): boolean {
    return this.#routeOf(proxy ?? noProxy).via !== 'nowhere';
  }

  /** Returns the settings after the change, with tested proxies. Refuses an invalid change, a proxy that does not work, and a region without a proxy. */
  async planned(current: ProxySettings, change: ProxyChange): Promise<Result<ProxySettings>> {
    switch (modeOf(current, change)) {
      case null:
        return nothingAsked;
      case 'internal':
        return toInternal(this.#host, current, change);
      case 'custom':
        return toCustom(this.#host, current, change);
      case 'none':
        if (!this.#host.policy.proxies.direct) return noDirect;
        return change.confirmNone === true ? done(noProxy) : refuse('invalid', 'confirm_no_proxy must be true for the mode none');
    }
  }

  /**
   * Changes the proxy. Refuses a second change of the same instance while the first one is under way, because two changes would overwrite each other. The test
   * of a proxy may take long.
   */
  async change(cell: Cell, change: ProxyChange): ReturnType<ProxyMethods['changeProxy']> {
    if (this.#changing.has(cell)) return underWay;
    this.#changing.add(cell);
    try {
      return await this.#testAndStore(cell, change);
    } finally {
      this.#changing.delete(cell);
    }
  }

  get catalogue(): Ports['proxies']['catalogue'] {
    return this.#host.ports.proxies.catalogue;
  }

  /** Tests and stores the settings. A running session restarts if the route of its next connection changes. Restarts are limited. */
  async #testAndStore(cell: Cell, change: ProxyChange): ReturnType<ProxyMethods['changeProxy']> {
    const before = cell.record.proxy ?? noProxy;
    const planned = await this.planned(before, change);
    if (!planned.ok) return planned;
    const settings = planned.value;
    const isRerouted = JSON.stringify(this.#routeOf(before)) !== JSON.stringify(this.#routeOf(settings));
    const restarts = (): boolean => isRerouted && (cell.status === 'connected' || cell.status === 'connecting');
    const objection = restarts() ? this.#host.connects.take(cell.record.id) : null;
    if (objection) return objection;
    await cell.keeper.save({ proxy: settings });
    cell.proxying.changed();
    this.#host.ports.log.info({ instance: cell.record.id, mode: settings.mode }, 'proxy.changed');
    const restart = restarts();
    if (restart) cell.send({ type: 'instance.reset' });
    return done({ ...viewOf(settings), restarted: restart, rotated: change.rotate === true });
  }

  #routeOf(settings: ProxySettings): ReturnType<typeof routeOf> {
    return routeOf(settings, this.#host.policy.proxies.direct);
  }
}

const proxyOf = (record: InstanceRecord): ProxyView => {
  const damage = unreadableIn(record, 'proxy') ? { lastTestError: unreadableFieldsReason('proxy') } : {};
  return viewOf({ ...(record.proxy ?? noProxy), ...damage });
};

export const proxyCommands = (
  { cells, register }: WithCells & { readonly register: Pick<Register, 'view' | 'everywhere'> },
  changes: ProxyChanges,
): ProxyMethods => ({
  proxy(id) {
    const view = register.view(id);
    return view === null ? unknownInstance : done(proxyOf(view.record));
  },
  proxies: async () => (await register.everywhere()).map((view) => ({ view, ...proxyOf(view.record) })),
  changeProxy: (id, change) => cells.settled(id, (cell) => changes.change(cell, change)),
  proxyCatalogue: () => (changes.catalogue === null ? noCatalogue : done(changes.catalogue)),
});
