/** Shows the arguments of a tool call to the person who confirms it. Every value is shown, or the call is refused. */

type Json = Readonly<Record<string, unknown>>;

/** The part of JSON Schema that gives the order of fields. */
interface Shape {
  readonly properties?: Readonly<Record<string, object>>;
  readonly items?: object;
}

/** Characters of one value. A longer value is cut by itself, so that it hides no other value. */
const shownOfValue = 300;
/** Characters of a whole question. A person does not read more. */
const room = 8_000;
/** Levels of objects and lists. No operation has more. */
const deepest = 6;

/** Control characters and marks of direction, which could draw a value as something else. */
const hidden = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;

/** Such as `https://` and `socks5://`. The end of an address decides where it leads, so an address is not cut. */
const address = /^\s*[a-z][a-z\d+.-]*:\/\//i;

const cut = (text: string): string => `${text.slice(0, shownOfValue)}… (${text.length - shownOfValue} more characters)`;

const textOf = (value: unknown): string => {
  const text = JSON.stringify(value).replaceAll(hidden, escaped);
  return text.length <= shownOfValue || (typeof value === 'string' && address.test(value)) ? text : cut(text);
};

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns the parts of a value with their schemas, in the order of the schema. Fields that the schema does not have come last. */
const partsOf = (path: string, value: object, { properties = {}, items = {} }: Shape): readonly (readonly [string, unknown, Shape])[] => {
  if (Array.isArray(value)) return value.map((item, index) => [`${path}[${index}]`, item, items] as const);
  const given = value as Json;
  const known = Object.keys(properties).filter((name) => Object.hasOwn(given, name));
  const others = Object.keys(given).filter((name) => !Object.hasOwn(properties, name));
  const within = (name: string): string => (path === '' ? name : `${path}.${name}`);
  return [
    ...known.map((name) => [within(name), given[name], properties[name] as Shape] as const),
    ...others.map((name) => [within(name.replaceAll(hidden, escaped)), given[name], {}] as const),
  ];
};

/** Returns one line for each value; null if the lines do not fit into a question. */
export const shownArguments = (input: Json, shape: Shape): string | null => {
  const lines: string[] = [];
  let left = room;
  const show = (path: string, value: unknown, schema: Shape, depth: number): void => {
    if (left < 0) return;
    const parts = isNested(value) ? partsOf(path, value, schema) : [];
    const isList = Array.isArray(value) && !value.some(isNested);
    if (parts.length > 0 && !isList) {
      if (depth === deepest) left = -1;
      else for (const part of parts) show(...part, depth + 1);
      return;
    }
    if (path === '') return;
    const line = `${path}: ${textOf(value)}`;
    left -= line.length + 1;
    lines.push(line);
  };
  show('', input, shape, 0);
  return left < 0 ? null : lines.join('\n');
};
