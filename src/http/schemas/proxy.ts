/** Shapes of proxies. */
import { Type } from 'typebox';
import { proxyModes, type ProxyRegion } from '#actors/gateway.ts';
import { cityFields, countryFields, proxyFields } from '#src/contract/views.ts';
import { Flag, fields, OneOf, optional, Text } from './common.ts';

const country = Type.String({
  pattern: '^(?:[a-z]{2})?$',
  description: 'Country of the managed proxy, such as br: one of /proxy-managed/countries',
});

/** The fields that select the location of a managed proxy. The bodies of create and connect have them too. */
export const regionFields = {
  proxy_managed_country: optional(country),
  proxy_managed_state: optional(Text(64, 'State within the country, as in /proxy-managed/cities')),
  proxy_managed_city: optional(Text(64, 'City, as in /proxy-managed/cities')),
};

export interface RegionBody {
  readonly proxy_managed_country?: string;
  readonly proxy_managed_state?: string;
  readonly proxy_managed_city?: string;
}

/** Returns the location of the managed proxy; undefined if the body names none. */
export const regionOf = (body: RegionBody): ProxyRegion | undefined => {
  const [place, state, city] = [body.proxy_managed_country, body.proxy_managed_state, body.proxy_managed_city].map((text = '') =>
    text.trim(),
  );
  return place || state || city ? { country: place ?? '', state: state ?? '', city: city ?? '' } : undefined;
};

export const ProxyState = Type.Object(proxyFields);

export const ProxyBody = Type.Object({
  mode: optional(OneOf(proxyModes, { description: 'Without it, it follows from the other fields' })),
  proxy_url: optional(
    Type.String({
      maxLength: 2000,
      description: 'http, https, socks5 or socks5h address with percent-encoded credentials; for the mode custom',
      examples: ['http://user:password@proxy.example.com:8080'],
    }),
  ),
  proxy_fallback: optional(
    OneOf(['internal', 'internal_proxy', 'none', ''], { description: 'internal: the route of the server is taken while the proxy fails' }),
  ),
  confirm_no_proxy: optional(Flag('Must be true for the mode none, which shows the address of the server')),
  rotate_now: optional(Flag('Take another managed proxy of the same region')),
  ...regionFields,
});

export const ProxyChanged = Type.Object({
  details: Type.String(),
  proxy: ProxyState,
  restart_requested: Flag('The running session connects anew with the same credentials'),
  rotated: optional(Flag('Another managed proxy was taken')),
});

export const ProxyRemoved = Type.Object({
  details: Type.String(),
  proxy: Type.Object({ enabled: Type.Boolean() }),
  restart_requested: Type.Boolean(),
});

export const CountriesAnswer = Type.Object({ countries: Type.Array(Type.Object(countryFields)) });

export const CitiesQuery = Type.Object({
  country: optional(Type.String({ pattern: '^[a-z]{2}$', default: 'br', description: 'br when left out' })),
  state: optional(Type.String({ pattern: '^[a-z0-9-]{1,16}$', description: 'Only cities of this state' })),
  search: optional(Text(100, 'Part of a name')),
});

export const CitiesAnswer = Type.Object({
  ...fields('country state', Type.String()),
  cities: Type.Array(Type.Object(cityFields)),
});
