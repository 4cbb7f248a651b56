/**
 * The proxy of an instance: the route that follows from its settings, and the choice of managed proxies. Pure, with randomness as an
 * argument.
 */
import type { ProxyCatalogue, ProxyCity, ProxyCountry, ProxyRegion, ProxySettings, Route } from '../model.ts';

// Chooses managed proxies of the catalogue.

type Chosen = { readonly ok: true; readonly urls: readonly string[] } | { readonly ok: false; readonly message: string };

const unknownPlace = (what: string): Chosen => ({ ok: false, message: `the catalogue of managed proxies has no such ${what}` });

interface Choice {
  readonly template: string;
  readonly city: ProxyCity | undefined;
}

const citiesOf = (country: ProxyCountry, { state, city }: ProxyRegion): readonly ProxyCity[] =>
  country.cities.filter((one) => (state === '' || one.state === state) && (city === '' || one.value === city));

/**
 * Returns the proxies of the matching cities. Adds the proxies of the country if the region names neither state nor city. Otherwise returns the proxies of
 * the country only if no matching city has proxies of its own.
 */
const choicesIn = (country: ProxyCountry, region: ProxyRegion): readonly Choice[] => {
  const cities = region.state === '' && region.city === '' ? country.cities : citiesOf(country, region);
  const own = cities.flatMap((city) => city.proxies.map((template) => ({ template, city })));
  if (region.state === '' && region.city === '') return [...country.proxies.map((template) => ({ template, city: undefined })), ...own];
  return own.length > 0 ? own : country.proxies.map((template) => ({ template, city: cities[0] }));
};

/** Returns the proxies of a region. Without a country, every country matches. */
const choices = (catalogue: ProxyCatalogue, region: ProxyRegion): readonly (Choice & { readonly country: string })[] =>
  catalogue
    .filter(({ value }) => region.country === '' || value === region.country)
    .flatMap((country) => choicesIn(country, region).map((choice) => ({ ...choice, country: country.value })));

const objectionTo = (catalogue: ProxyCatalogue, region: ProxyRegion): string | null => {
  if (region.country === '') return region.state === '' && region.city === '' ? null : 'place without proxy_managed_country';
  const country = catalogue.find(({ value }) => value === region.country);
  if (country === undefined) return 'country';
  if (citiesOf(country, { ...region, city: '' }).length === 0 && region.state !== '') return 'state';
  return region.city === '' || citiesOf(country, region).length > 0 ? null : 'city';
};

/**
 * Returns addresses for a region in the order of attempts, which starts at a random address. `session` replaces `{session}`. A different value selects a
 * different exit of the same provider.
 */
export const chooseProxies = (catalogue: ProxyCatalogue, region: ProxyRegion, session: string, random: number): Chosen => {
  const objection = objectionTo(catalogue, region);
  if (objection !== null) return unknownPlace(objection);
  const all = choices(catalogue, region).map(({ template, city, country }) =>
    template
      .replaceAll('{session}', session)
      .replaceAll('{country}', country)
      .replaceAll('{state}', city?.state ?? '')
      .replaceAll('{city}', city?.rawCity ?? ''),
  );
  if (all.length === 0) return { ok: false, message: 'the catalogue has no proxy for this place' };
  const start = Math.floor(random * all.length);
  return { ok: true, urls: [...all.slice(start), ...all.slice(0, start)] };
};

interface Choosing {
  readonly proxies: { readonly catalogue: ProxyCatalogue | null };
  readonly chance: { random(): number; hex(bytes: number): string };
}

/** Returns another proxy of the same region; '' if there is none. */
export const anotherProxy = ({ proxies, chance }: Choosing, region: ProxyRegion, than: string): string => {
  const chosen = chooseProxies(proxies.catalogue ?? [], region, chance.hex(4), chance.random());
  return (chosen.ok ? chosen.urls : []).find((url) => url !== than) ?? '';
};

// Derives the current route from the proxy settings of an instance. Pure.

export interface ProxyPolicy {
  /** True if sessions may connect from the server's own address. */
  readonly direct: boolean;
  /** The time for which the fallback is used before a new connection tries the owner's proxy again. In milliseconds. */
  readonly primaryEvery: number;
}

/** The number of consecutive failures after which the fallback or another managed proxy is used. The network may have caused a single failure. */
export const failuresBeforeFallback = 2;

const through = (url: string, managed: boolean): Route => ({ via: 'proxy', url, managed });
const serverRoute = ({ managedUrl }: ProxySettings, direct: boolean): Route =>
  managedUrl === '' ? { via: direct ? 'direct' : 'nowhere' } : through(managedUrl, true);

/** Returns the route. `primary`: true to use the owner's proxy although the fallback is active. */
export const routeOf = (settings: ProxySettings, direct: boolean, primary = false): Route => {
  if (settings.mode === 'custom' && (primary || settings.fallbackSince === null)) return through(settings.url, false);
  if (settings.mode === 'none') return { via: direct ? 'direct' : 'nowhere' };
  return serverRoute(settings, direct);
};

export const effectiveOf = ({ mode, fallbackSince }: ProxySettings): 'custom' | 'internal' | 'direct' => {
  if (mode === 'none') return 'direct';
  return mode === 'custom' && fallbackSince === null ? 'custom' : 'internal';
};
