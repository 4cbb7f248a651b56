/** Kinds of settings. A kind parses the text of an environment variable, and converts a value back to such a text. */
import { isIP } from 'node:net';
import { loopbackHosts } from '#src/base/loopback.ts';

interface Kind<T> {
  /** The requirement on a value, as the end of a sentence: "must be …". */
  readonly must: string;
  /** Returns the value of a text that is not empty; undefined if the text is not valid. */
  parse(text: string): T | undefined;
  /** Returns the value as the text of an environment variable. */
  show(value: T): string;
  /** True if values of this kind are never shown, not even a default. */
  readonly secret?: true;
}

const whole = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);

export const integer = (min: number, max: number): Kind<number> => ({
  must: `a whole number from ${min} to ${max}`,
  parse: (text) => {
    const value = whole(text);
    return value !== undefined && value >= min && value <= max ? value : undefined;
  },
  show: String,
});

/** Returns the kind of an integer or null. With null the program derives the value from other settings. */
export const derivedInteger = (min: number, max: number): Kind<number | null> => ({ ...integer(min, max), show: String });

const week = 604_800_000;

/** The longest delay of a timer of Node, which is 24.8 days. A longer delay fires after 1 ms. */
const longestTimer = 2 ** 31 - 1;

/** Returns the kind of a time-out or a pause in milliseconds. The longest value is the longest delay of a timer. */
export const milliseconds = (min = 1, max = longestTimer): Kind<number> => ({
  ...integer(min, max),
  must: `a whole number of milliseconds from ${min} to ${max}`,
});

/**
 * Returns the kind of an age in milliseconds. An age may exceed the longest delay of a timer, because no timer is set to an age. The limit is four weeks,
 * because a longer age would be a mistake.
 */
export const age = (min: number): Kind<number> => milliseconds(min, 4 * week);

export const times: Kind<readonly number[]> = {
  must: 'a list of milliseconds, separated by commas',
  parse: (text) => {
    const values = text.split(',').map((part) => whole(part.trim()));
    return values.every((value) => value !== undefined && value <= longestTimer) ? Object.freeze(values as number[]) : undefined;
  },
  show: (value) => value.join(','),
};

const words: Readonly<Record<string, boolean>> = {
  true: true,
  1: true,
  yes: true,
  on: true,
  false: false,
  0: false,
  no: false,
  off: false,
};

export const flag: Kind<boolean> = {
  must: 'true or false',
  parse: (text) => words[text.toLowerCase()],
  show: String,
};

export const choice = <T extends string>(...options: readonly T[]): Kind<T> => ({
  must: `one of ${options.join(', ')}`,
  parse: (text) => options.find((option) => option === text.toLowerCase()),
  show: (value) => value,
});

export const text: Kind<string> = { must: 'a text', parse: (value) => value, show: (value) => value };

/** The name of a node, which appears in NATS subjects, log lines and metrics. */
export const nodeName: Kind<string | null> = {
  must: 'a name of at most 63 letters, digits, `-` and `_`',
  parse: (value) => (/^[\w-]{1,63}$/.test(value) ? value : undefined),
  show: (value) => value ?? '',
};

const startsWith = (protocols: readonly string[]): string =>
  `an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;

/** Returns the kind of an address or null. With null the program determines the address itself. */
export const url = (...protocols: readonly string[]): Kind<string | null> => ({
  must: startsWith(protocols),
  parse: (value) => (protocols.includes(URL.parse(value)?.protocol ?? '') ? value.replace(/(?<!\/)\/+$/, '') : undefined),
  show: (value) => value ?? '',
});

const socket = url('ws:', 'wss:');

/** A WebSocket address whose traffic a third party cannot read: over TLS, or on this machine. */
export const webSocket: Kind<string | null> = {
  ...socket,
  must: 'an address with wss:, or with ws: on this machine',
  parse(value) {
    const { protocol, hostname } = URL.parse(value) ?? {};
    return protocol === 'ws:' && !loopbackHosts.has(hostname ?? '') ? undefined : socket.parse(value);
  },
};

/** A version of the web client, or null. With null the program looks the version up. */
export const version: Kind<string | null> = {
  must: 'a version such as 2.3000.1043857760',
  parse: (value) => (/^\d{1,4}\.\d{1,6}\.\d{1,12}$/.test(value) ? value : undefined),
  show: (value) => value ?? '',
};

/** Returns the kind of an address that contains a password. */
export const secretUrl = (...protocols: readonly string[]): Kind<string | null> => ({
  ...url(...protocols),
  must: `${startsWith(protocols)}; signs such as / # @ in a password are written as %2F %23 %40`,
  secret: true,
});

/** The least length of a token. With a thousand requests a second, an attacker can guess a shorter token that a person chose. In characters. */
const shortestToken = 16;

export const secretToken: Kind<string | null> = {
  must: `at least ${shortestToken} visible ASCII characters without spaces, for example from: openssl rand -hex 32`,
  parse: (value) => (/^[\x21-\x7e]+$/.test(value) && value.length >= shortestToken ? value : undefined),
  show: () => '',
  secret: true,
};

/** A secret text; '' for none. */
export const secretText: Kind<string> = { ...text, secret: true };

/** Returns the kind of a list of these words. `all` means every word, and `none` an empty list. */
export const wordsOf = <T extends string>(...options: readonly T[]): Kind<readonly T[]> => ({
  must: `none, all, or some of ${options.join(', ')}, separated by commas`,
  parse: (value) => {
    const parts = value.split(',').map((part) => part.trim().toLowerCase());
    if (parts.length === 1 && parts[0] === 'all') return options;
    if (parts.length === 1 && parts[0] === 'none') return [];
    const known = options.filter((option) => parts.includes(option));
    return known.length === new Set(parts).size ? known : undefined;
  },
  show: (value) => (value.length === 0 ? 'none' : value.join(',')),
});

/** 32 bytes, as 64 hex digits or as base64 (either alphabet). */
export const secretKey: Kind<Uint8Array | null> = {
  must: '32 bytes, as 64 hex digits or as base64',
  parse: (value) => {
    if (/^[0-9a-f]{64}$/i.test(value)) return Buffer.from(value, 'hex');
    if (!/^[\w+/-]{43}=?$/.test(value)) return undefined;
    return Buffer.from(value, 'base64');
  },
  show: () => '',
  secret: true,
};

/** Origins of pages. `*` means every origin, and `none` an empty list. */
export const origins: Kind<readonly string[]> = {
  must: 'none, *, or a list of origins such as https://app.example.com, separated by commas',
  parse: (value) => {
    const parts = value.split(',').map((part) => part.trim().toLowerCase().replace(/\/$/, ''));
    if (parts.length === 1 && ['none', '*'].includes(parts[0] ?? '')) return parts[0] === '*' ? ['*'] : [];
    return parts.every((part) => URL.parse(part)?.origin === part) ? Object.freeze(parts) : undefined;
  },
  show: (value) => (value.length === 0 ? 'none' : value.join(',')),
};

const isSubnet = (value: string): boolean => {
  const [address = '', prefix, ...rest] = value.split('/');
  const bits = { 4: 32, 6: 128 }[isIP(address)];
  if (bits === undefined || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
};

/** A list of `private`, `loopback` and subnets. `true` means both words, and `false` and `none` an empty list. */
export const networks: Kind<readonly string[]> = {
  must: 'none, true, or a list of private, loopback, addresses and subnets such as 10.1.0.0/16, separated by commas',
  parse: (value) => {
    const parts = value.split(',').map((part) => part.trim().toLowerCase());
    if (parts.length === 1 && ['none', 'false'].includes(parts[0] ?? '')) return [];
    if (parts.length === 1 && parts[0] === 'true') return ['private', 'loopback'];
    return parts.every((part) => part === 'private' || part === 'loopback' || isSubnet(part)) ? Object.freeze(parts) : undefined;
  },
  show: (value) => (value.length === 0 ? 'none' : value.join(',')),
};

const clock = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/;
const clockOf = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** A part of the day, in minutes since midnight; null for none. The part may go over midnight. */
export const hours: Kind<{ readonly from: number; readonly to: number } | null> = {
  must: 'none, or two times of the day such as 21:00-08:00',
  parse: (value) => {
    if (value.trim().toLowerCase() === 'none') return null;
    const [, ...parts] = clock.exec(value.trim()) ?? [];
    if (parts.length === 0) return undefined;
    const [a = 0, b = 0, c = 0, d = 0] = parts.map(Number);
    return a === c && b === d ? undefined : { from: a * 60 + b, to: c * 60 + d };
  },
  show: (value) => (value === null ? 'none' : `${clockOf(value.from)}-${clockOf(value.to)}`),
};

/** The name of a time zone; '' for the time zone of the server. */
export const timeZone: Kind<string> = {
  must: 'a time zone such as America/Sao_Paulo',
  parse: (value) => {
    if (value === '') return '';
    try {
      const { timeZone: zone } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
      return zone === '' ? undefined : value;
    } catch {
      return undefined;
    }
  },
  show: (value) => value,
};

/** A list of texts in lower case. `none` is an empty list. */
export const phrases: Kind<readonly string[]> = {
  must: 'none, or a list of words, separated by commas',
  parse: (value) => {
    const parts = value.split(',').map((part) => part.trim().toLowerCase());
    if (parts.length === 1 && parts[0] === 'none') return [];
    return parts.every((part) => part !== '') ? Object.freeze(parts) : undefined;
  },
  show: (value) => (value.length === 0 ? 'none' : value.join(',')),
};

/** A value of the program with the reason of that value. The environment may set the value, unless the value is fixed. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly value: T;
  /** The effect of the setting and the reason of its default. */
  readonly about: string;
  /** Heading of its table in `docs/settings.md`. */
  readonly group: string;
  /** True for a constant, which the environment does not set and no page lists. */
  readonly fixed?: true;
}

export const group =
  (name: string) =>
  <T>(kind: Kind<T>, value: NoInfer<T>, about: string): Setting<T> => ({ kind, value, about, group: name });

/** Returns a constant. No operator has a reason to change this value. */
export const fixed = <T>(value: T, about: string): Setting<T> => ({
  kind: { must: String(value), parse: () => undefined, show: String },
  value,
  about,
  group: '',
  fixed: true,
});
