/** The charts as data, derived from the machines. The data is the source of the pictures, and of the names in the steps of an instance. */
import type { Chart, ChartEvent, ChartName, ChartState, ChartTransition, TransitionKind } from '../views/inspector.ts';
import { chartDescriptions, eventDescriptions } from './chart-descriptions.ts';
import { instance } from './instance.ts';
import { lifecycle } from './lifecycle.ts';

/** The fields of a state node of a machine that this file reads. */
interface Node {
  readonly id: string;
  readonly path: readonly string[];
  readonly type: string;
  readonly tags: readonly string[];
  readonly parent?: Node | undefined;
  readonly initial: { readonly target: readonly Node[] };
  readonly invoke: readonly { readonly id: string; readonly src: unknown }[];
  readonly states: Readonly<Record<string, Node>>;
  readonly transitions: ReadonlyMap<string, readonly Definition[]>;
  readonly always?: readonly Definition[];
}

interface Definition {
  readonly target: readonly Node[] | undefined;
  readonly guard?: unknown;
  readonly reenter: boolean;
}

const pathOf = ({ path }: Pick<Node, 'path'>): string => path.join('.');

const nodesOf = (node: Node): readonly Node[] => [node, ...Object.values(node.states).flatMap(nodesOf)];

const leafOf = (node: Node): Node => (node.type === 'compound' && node.initial.target[0] ? leafOf(node.initial.target[0]) : node);

const tagsOf = (node: Node): readonly string[] => [...new Set([...(node.parent ? tagsOf(node.parent) : []), ...node.tags])];

/** Returns the constants in the parameters of a guard. If the parameters are a function, calls the function with an empty event. */
const constantsOf = (params: unknown): readonly string[] => {
  const value: unknown =
    typeof params === 'function' ? (params as (args: object) => unknown)({ context: {}, event: { close: {} } }) : params;
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).filter(Array.isArray).flat().map(String) : [];
};

const guardText = (guard: unknown): string => {
  if (guard === undefined) return '';
  if (typeof guard === 'string') return guard;
  const { type, params } = guard as { readonly type: string; readonly params?: unknown };
  const constants = constantsOf(params);
  return constants.length === 0 ? type : `${type}(${constants.join('|')})`;
};

type Named = { readonly name: string; readonly kind: TransitionKind };

/** Returns the name of each event type of a state. The names, such as `after.retryDelay` or `done.closing`, do not contain the internal ids of XState. */
const eventNames = (node: Node): ReadonlyMap<string, Named> => {
  const sources = new Map(node.invoke.map(({ id, src }) => [id, String(src)]));
  return new Map(
    [...node.transitions.keys()].map((type): [string, Named] => {
      const [, kind, rest = ''] = /^xstate\.(after|done\.actor|error\.actor)\.(.*)$/.exec(type) ?? [];
      if (kind === undefined) return [type, { name: type, kind: 'event' }];
      if (kind === 'after') return [type, { name: `after.${rest.split('.')[0]}`, kind: 'after' }];
      const word = kind === 'done.actor' ? 'done' : 'failed';
      return [type, { name: `${word}.${sources.get(rest) ?? rest}`, kind: word }];
    }),
  );
};

const stateOf = (node: Node, chart: ChartName): ChartState => ({
  id: pathOf(node),
  parent: node.parent ? pathOf(node.parent) : '',
  kind: node.type as ChartState['kind'],
  ...(node.type === 'compound' && node.initial.target[0] ? { initial: pathOf(node.initial.target[0]) } : {}),
  tags: tagsOf(node),
  invokes: node.invoke.map(({ src }) => String(src)),
  description: chartDescriptions[chart].states[pathOf(node)] ?? '',
});

const transitionsOf = (from: Node): readonly ChartTransition[] => {
  const names = eventNames(from);
  const make = ({ name, kind }: Named, { target, guard, reenter }: Definition): readonly ChartTransition[] => {
    const to = target?.[0];
    if (to === undefined) return [];
    return [
      {
        id: `${pathOf(from)}>${pathOf(to)}`,
        from: pathOf(from),
        to: pathOf(to),
        leaf: pathOf(leafOf(to)),
        event: name,
        kind,
        guard: guardText(guard),
        ...(kind === 'after' ? { delay: name.slice('after.'.length) } : {}),
        reenter,
      },
    ];
  };
  const named = [...from.transitions].flatMap(([type, definitions]) =>
    definitions.flatMap((definition) => make(names.get(type) ?? { name: type, kind: 'event' }, definition)),
  );
  return [...named, ...(from.always ?? []).flatMap((definition) => make({ name: 'always', kind: 'always' }, definition))];
};

const eventsOf = (nodes: readonly Node[]): readonly ChartEvent[] => {
  const named = nodes.flatMap((node) => [...eventNames(node).values()]);
  const always: readonly Named[] = nodes.some((node) => (node.always ?? []).length > 0) ? [{ name: 'always', kind: 'always' }] : [];
  const all = new Map([...named, ...always, { name: 'start', kind: 'event' } as const].map((event) => [event.name, event]));
  return [...all.values()].map(({ name, kind }) => ({ name, kind, description: eventDescriptions[name] ?? '' }));
};

const roots: Readonly<Record<ChartName, Node>> = {
  lifecycle: lifecycle.root as unknown as Node,
  instance: instance.root as unknown as Node,
};

const chartOf = (id: ChartName): Chart => {
  const [root, ...nodes] = nodesOf(roots[id]) as [Node, ...Node[]];
  return {
    id,
    initial: pathOf(root.initial.target[0] ?? root),
    description: chartDescriptions[id].chart,
    states: nodes.map((node) => stateOf(node, id)),
    transitions: [root, ...nodes].flatMap(transitionsOf),
    events: eventsOf([root, ...nodes]),
  };
};

export const charts: Readonly<Record<ChartName, Chart>> = { lifecycle: chartOf('lifecycle'), instance: chartOf('instance') };

/** Maps the event types of XState to the names of the events, for both machines. */
export const nameOfEvent: ReadonlyMap<string, string> = new Map(
  Object.values(roots).flatMap((root) =>
    nodesOf(root).flatMap((node) => [...eventNames(node)].map(([type, { name }]) => [type, name] as const)),
  ),
);

/** Returns the path of the atomic state in the value of a snapshot. */
export const stateText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const [entry] = Object.entries(value as Readonly<Record<string, unknown>>);
  return entry === undefined ? '' : `${entry[0]}.${stateText(entry[1])}`;
};

const ancestors = (state: string): readonly string[] => {
  const cut = state.lastIndexOf('.');
  return cut < 0 ? [state, ''] : [state, ...ancestors(state.slice(0, cut))];
};

/**
 * Finds the transition that was taken. Searches the old state first, then its ancestors, for a transition of the event to the new state. The transition may
 * pass through a state with an `always` transition.
 */
export const edgeOf = (chart: ChartName, from: string, to: string, event: string): ChartTransition | undefined => {
  const { transitions } = charts[chart];
  const word = event === 'start' ? 'always' : event;
  const own = ancestors(from).flatMap((state) => transitions.filter((one) => one.from === state && one.event === word));
  const through = (leaf: string): boolean => transitions.some((one) => one.kind === 'always' && one.from === leaf && one.leaf === to);
  return own.find(({ leaf }) => leaf === to) ?? own.find(({ leaf }) => through(leaf));
};

// Exports the charts as source text for Stately's editor. The text contains the configuration of the machines, with the names of functions in place of the
// functions.

type Plain = null | boolean | number | string | readonly Plain[] | { readonly [name: string]: Plain };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts a config to plain data. Guards become text, because the editor shows no parameters. Actions and actors keep their names. */
const plainOf = (value: unknown, key: string): Plain | undefined => {
  if (typeof value === 'function' || value === undefined) return undefined;
  if (key === 'guard') return guardText(value);
  if (Array.isArray(value)) return value.map((item) => plainOf(item, key)).filter((item) => item !== undefined);
  if (!isObject(value)) return value as Plain;
  if (key === 'actions' || key === 'entry' || key === 'exit') return String(value['type'] ?? '');
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const plain = plainOf(item, name);
      return plain === undefined ? [] : [[name, plain]];
    }),
  );
};

const described = (chart: ChartName, states: Plain | undefined, parent = ''): Plain =>
  Object.fromEntries(
    Object.entries(isObject(states) ? states : {}).map(([name, state]) => {
      const path = parent === '' ? name : `${parent}.${name}`;
      const { states: inner, ...rest } = state as Readonly<Record<string, Plain>>;
      const description = chartDescriptions[chart].states[path] ?? '';
      return [name, { description, ...rest, ...(inner === undefined ? {} : { states: described(chart, inner, path) }) }];
    }),
  );

const machines = { lifecycle, instance } as const;

/** Returns the source text of a machine; null if there is no machine with this id. */
export function chartSource(id: string): string | null {
  if (!Object.hasOwn(charts, id)) return null;
  const name = id as ChartName;
  const { context: _, ...config } = machines[name].config as Readonly<Record<string, unknown>>;
  const { states, ...plain } = plainOf(config, '') as Readonly<Record<string, Plain>>;
  const whole = { description: chartDescriptions[name].chart, ...plain, states: described(name, states) };
  return `import { createMachine } from 'xstate';\n\nexport const ${name} = createMachine(${JSON.stringify(whole, null, 2)});\n`;
}
