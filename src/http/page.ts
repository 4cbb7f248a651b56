/** Pages of stored things, bounded by rows and by bytes. What was serialised to be measured is sent as it is: nothing is serialised twice. */

/** `usual` when no positive limit was sent, never more than `most`; answers tell the limit that was used. */
export const pageSize = (limit: number, { usual, most }: { readonly usual: number; readonly most: number }): number =>
  limit > 0 ? Math.min(limit, most) : usual;

const text = Symbol('serialised');

interface Serialised {
  readonly [text]?: string;
}

/** The JSON of an answer. */
export const serialise = (value: unknown): string =>
  (typeof value === 'object' && value !== null ? (value as Serialised)[text] : undefined) ?? JSON.stringify(value);

/** For everything of an answer beside the items. */
const rest = 1024;

export interface Page<View> {
  readonly views: readonly View[];
  /** There were more items than fit. */
  readonly cut: boolean;
  /** The list as JSON. */
  readonly json: string;
}

export const emptyPage: Page<never> = { views: [], cut: false, json: '[]' };

/** Returns as many of the first items as fit into the bytes, behind those of `before`. Returns at least one item, so that paging always ends. */
export const pageWithin = <Item, View>(
  items: readonly Item[],
  view: (item: Item) => View,
  bytes: number,
  before: Page<View> = emptyPage,
): Page<View> => {
  const views = [...before.views];
  const texts = views.length === 0 ? [] : [before.json.slice(1, -1)];
  let room = bytes - rest - Buffer.byteLength(before.json);
  for (const item of items) {
    const made = view(item);
    const json = JSON.stringify(made);
    room -= Buffer.byteLength(json) + 1;
    if (room < 0 && views.length > 0) return { views, cut: true, json: `[${texts.join(',')}]` };
    views.push(made);
    texts.push(json);
  }
  return { views, cut: false, json: `[${texts.join(',')}]` };
};

/** An answer with a page in it, under a name of its own. */
export const withPage = <const Name extends string, View, More extends object>(
  name: Name,
  { views, json }: Page<View>,
  more: More,
): { readonly [Key in Name]: readonly View[] } & More => {
  const answer = { [name]: views, ...more } as { readonly [Key in Name]: readonly View[] } & More;
  const [start, end] = [`{${JSON.stringify(name)}:${json}`, JSON.stringify(more).slice(1)];
  return Object.defineProperty(answer, text, { value: end === '}' ? `${start}}` : `${start},${end}` });
};
