/** Reads the operator's file of managed proxies; a mistake in it ends the start with a sentence that says where. */
import { readFileSync } from 'node:fs';
import type { ProxyCatalogue, ProxyCity, ProxyCountry } from '#actors/model.ts';
import { proxyObjection } from './check.ts';

type Json = Readonly<Record<string, unknown>>;

const objectOf = (value: unknown, where: string): Json => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${where} must be an object`);
  return value as Json;
};

const listOf = (value: unknown, where: string): readonly unknown[] => {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error(`${where} must be a list`);
  return value;
};

const textOf = (value: unknown, where: string, pattern: RegExp = /\S/): string => {
  if (typeof value !== 'string' || !pattern.test(value)) throw new Error(`${where} must be a text like ${pattern.source}`);
  return value;
};

/** Placeholders stand in credentials mostly; any word in their place must give an address. */
const proxiesOf = (value: unknown, where: string): readonly string[] =>
  listOf(value, where).map((entry, n) => {
    const address = textOf(entry, `${where}[${n}]`);
    const objection = proxyObjection(address.replaceAll(/\{(?:session|country|state|city)\}/g, 'x'));
    if (objection !== null) throw new Error(`${where}[${n}] is no proxy: ${objection}`);
    return address;
  });

const cityOf = (entry: unknown, where: string): ProxyCity => {
  const { value, label, state = '', state_label: stateLabel = '', raw_city: rawCity, proxies } = objectOf(entry, where);
  const name = textOf(value, `${where}.value`, /^[a-z0-9-]{1,64}$/);
  return {
    value: name,
    label: label === undefined ? name : textOf(label, `${where}.label`),
    state: textOf(state, `${where}.state`, /^[a-z0-9-]{0,16}$/),
    stateLabel: textOf(stateLabel, `${where}.state_label`, /^/),
    rawCity: rawCity === undefined ? name : textOf(rawCity, `${where}.raw_city`),
    proxies: proxiesOf(proxies, `${where}.proxies`),
  };
};

const countryOf = (entry: unknown, where: string): ProxyCountry => {
  const { value, label, proxies, cities } = objectOf(entry, where);
  const name = textOf(value, `${where}.value`, /^[a-z]{2}$/);
  return {
    value: name,
    label: label === undefined ? name : textOf(label, `${where}.label`),
    proxies: proxiesOf(proxies, `${where}.proxies`),
    cities: listOf(cities, `${where}.cities`).map((city, n) => cityOf(city, `${where}.cities[${n}]`)),
  };
};

/** Null when `path` is ''. Throws when the file cannot be read or makes no sense. */
export const readCatalogue = (path: string): ProxyCatalogue | null => {
  if (path === '') return null;
  try {
    const { countries } = objectOf(JSON.parse(readFileSync(path, 'utf8')), 'the file');
    return listOf(countries, 'countries').map((country, n) => countryOf(country, `countries[${n}]`));
  } catch (error) {
    throw new Error(`PROXY_CATALOG cannot be used: ${error instanceof Error ? error.message : 'unknown error'}`, { cause: error });
  }
};
