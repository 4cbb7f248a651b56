/** Routes of proxies: the proxy of an instance, and the locations of managed proxies. */
import type { Gateway } from '#actors/gateway.ts';
import { citiesView, countriesView, proxyView } from '#src/contract/views.ts';
import { connectRefusals, done, instanceRefusals, mapResult, refuse, type Route, route } from '../route.ts';
import * as shape from '../schemas/proxy.ts';

const tag = 'proxy';
const common = { credential: 'instance', tag, refusals: instanceRefusals } as const;

type Change = Parameters<Gateway['changeProxy']>[1];

const fallbackOf = (text: string | undefined): Pick<Change, 'fallback'> =>
  text === undefined ? {} : { fallback: text.startsWith('internal') };

const instanceProxyRoutes: readonly Route[] = [
  route({
    on: ['GET /instance/proxy'],
    operationId: 'getInstanceProxy',
    ...common,
    summary: 'Show the route of the session to the platform, and its state',
    answer: shape.ProxyState,
    run: ({ gateway, id }) => mapResult(gateway.proxy(id), proxyView),
  }),
  route({
    on: ['POST /instance/proxy'],
    operationId: 'setInstanceProxy',
    ...common,
    summary: 'Test a proxy and use it for the session and its media. A running session reconnects with the same credentials',
    body: shape.ProxyBody,
    answer: shape.ProxyChanged,
    refusals: {
      ...common.refusals,
      invalid: { example: 'the proxy does not work: it refuses connections' },
      conflict: { example: 'there is no other managed proxy in this region' },
      ...connectRefusals,
    },
    run: async ({ gateway, id, body }) => {
      const region = shape.regionOf(body);
      const changed = await gateway.changeProxy(id, {
        ...(body.mode === undefined ? {} : { mode: body.mode }),
        ...(body.proxy_url?.trim() ? { url: body.proxy_url.trim() } : {}),
        ...fallbackOf(body.proxy_fallback),
        ...(region === undefined ? {} : { region }),
        rotate: body.rotate_now === true,
        confirmNone: body.confirm_no_proxy === true,
      });
      return mapResult(changed, ({ restarted, rotated, ...view }) => ({
        details: view.settings.mode === 'none' ? 'Proxy removed' : 'Proxy configured',
        proxy: proxyView(view),
        restart_requested: restarted,
        ...(rotated ? { rotated } : {}),
      }));
    },
  }),
  route({
    on: ['DELETE /instance/proxy'],
    operationId: 'removeInstanceProxy',
    ...common,
    refusals: { ...common.refusals, ...connectRefusals },
    summary: 'Remove the proxy. A running session reconnects from the address of the server',
    answer: shape.ProxyRemoved,
    run: async ({ gateway, id }) =>
      mapResult(await gateway.changeProxy(id, { mode: 'none', confirmNone: true }), ({ restarted }) => ({
        details: 'Proxy removed',
        proxy: { enabled: false },
        restart_requested: restarted,
      })),
  }),
];

const absent = {
  unavailable: { example: 'managed proxies are not available: the server has no catalogue of them (PROXY_CATALOG)' },
} as const;

const catalogueRoutes: readonly Route[] = [
  route({
    on: ['GET /proxy-managed/countries'],
    operationId: 'listProxyCountries',
    credential: 'none',
    tag,
    refusals: absent,
    summary: 'List the countries of the managed proxies',
    answer: shape.CountriesAnswer,
    run: ({ gateway }) => mapResult(gateway.proxyCatalogue(), countriesView),
  }),
  route({
    on: ['GET /proxy-managed/cities'],
    operationId: 'listProxyCities',
    credential: 'none',
    tag,
    refusals: absent,
    summary: 'List the cities of a country that managed proxies may stand in',
    query: shape.CitiesQuery,
    answer: shape.CitiesAnswer,
    run: ({ gateway, query: { country: wanted = 'br', state = '', search = '' } }) => {
      const catalogue = gateway.proxyCatalogue();
      if (!catalogue.ok) return catalogue;
      const country = catalogue.value.find(({ value }) => value === wanted);
      return country === undefined
        ? refuse('invalid', 'the catalogue of managed proxies has no such country')
        : done(citiesView(country, state, search.trim()));
    },
  }),
];

export const proxyRoutes: readonly Route[] = [...instanceProxyRoutes, ...catalogueRoutes];
