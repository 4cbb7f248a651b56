/** Proxies in the interface's spelling; passwords never leave. */
import { maskedProxy, type ProxyCatalogue, type ProxyCountry, type ProxyView } from '#actors/gateway.ts';

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
