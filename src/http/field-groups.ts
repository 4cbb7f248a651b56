/** Groups of fields that several objects of the OpenAPI document have. The document names a group once, and each object refers to it and adds its own fields. Pure. */

type Json = Readonly<Record<string, unknown>>;

/**
 * Groups by name: the fields that the objects at two places have in common. A place is a named schema, or an operation with the way to the object. A third
 * text is a common field that each object keeps as its own.
 */
export const groupPlaces: Readonly<Record<string, readonly [one: string, other: string, kept?: string]>> = {
  SendOptions: ['sendText body', 'sendMedia body', 'number'],
  CampaignContent: ['sendSimpleCampaign body', 'sendAdvancedCampaign body messages item'],
  ChatSummary: ['Chat', 'findChats answer chats item'],
  ActorSummary: ['listActors answer rows item', 'getActor answer'],
  CallDetails: ['CallEvent 2 call', 'HistoryEvent 2 calls item'],
  PrivacyChoices: ['changePrivacy body', 'getPrivacy answer'],
  SessionOptions: ['connectInstance body', 'createInstance body'],
  WebhookOptions: ['saveWebhook body', 'saveGlobalWebhook body'],
  PostSearch: ['editPost body', 'deletePost body'],
  GroupAct: ['GroupChangedEvent 2 event', 'GroupJoinedEvent 2 event 2'],
};

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const inside = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((part, key) => (isObject(part) || Array.isArray(part) ? (part as Json)[key] : undefined), value);

/** Returns the schemas of an operation that a place can begin at, by the first two words of the place. */
const rootsOf = (operation: Json): readonly (readonly [string, unknown])[] => {
  const schemaOf = (value: unknown): unknown => inside(value, 'content', 'application/json', 'schema');
  const id = String(operation['operationId']);
  return [
    [`${id} body`, schemaOf(operation['requestBody'])],
    [`${id} answer`, schemaOf(inside(operation, 'responses', '200'))],
  ];
};

const schemasByPlace = (document: Json): ReadonlyMap<string, unknown> => {
  const operations = Object.values(document['paths'] ?? {}).flatMap((methods) => Object.values(methods as Json)) as readonly Json[];
  return new Map([...Object.entries(inside(document, 'components', 'schemas') ?? {}), ...operations.flatMap(rootsOf)]);
};

/** Walks the words of a place: a number is a part of a composition, `item` is an element of a list, and any other word is a field. */
const objectAt = (schemas: ReadonlyMap<string, unknown>, place: string): Json | undefined => {
  const words = place.split(' ');
  const start = schemas.has(words[0] ?? '') ? 1 : 2;
  const found = words.slice(start).reduce<unknown>(
    (schema, word) => {
      if (/^\d$/.test(word)) return inside(schema, 'allOf', String(Number(word) - 1));
      return word === 'item' ? inside(schema, 'items') : inside(schema, 'properties', word);
    },
    schemas.get(words.slice(0, start).join(' ')),
  );
  return isObject(found) ? found : undefined;
};

const requiredOf = (schema: Json): readonly string[] => (schema['required'] ?? []) as readonly string[];
const fieldsOf = (schema: Json): Json => (schema['properties'] ?? {}) as Json;

/** Returns true if two objects have the same field, required in both or in none. */
const isShared = (name: string, one: Json, other: Json): boolean =>
  Object.hasOwn(fieldsOf(other), name) &&
  requiredOf(one).includes(name) === requiredOf(other).includes(name) &&
  JSON.stringify(fieldsOf(one)[name]) === JSON.stringify(fieldsOf(other)[name]);

/** Returns the object with the fields that the condition holds for. */
const withFields = (schema: Json, holds: (name: string) => boolean): Json => {
  const required = requiredOf(schema).filter(holds);
  const properties = Object.fromEntries(Object.entries(fieldsOf(schema)).filter(([name]) => holds(name)));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
};

type Groups = readonly (readonly [name: string, group: Json])[];

const hasAll = (schema: Json, group: Json): boolean => Object.keys(fieldsOf(group)).every((name) => isShared(name, group, schema));

/** Keywords of an object that mean the same in a composition. */
const besides = new Set(['type', 'properties', 'required', 'description', 'examples']);

/** Returns the first group whose fields an object has. */
const groupOf = (schema: Json, groups: Groups): Groups[number] | undefined =>
  schema['type'] !== 'object' || Object.keys(schema).some((key) => !besides.has(key))
    ? undefined
    : groups.find(([, group]) => hasAll(schema, group));

/** Replaces the objects in a value. Examples are data and stay as they are. */
const replaced = (value: unknown, groups: Groups): unknown => {
  if (Array.isArray(value)) return value.map((one) => replaced(one, groups));
  if (!isObject(value)) return value;
  const changed: Json = Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, ['example', 'examples'].includes(key) ? one : replaced(one, groups)]),
  );
  // The fields are compared as they were given, before their own objects are replaced.
  const [name, group] = groupOf(value, groups) ?? [];
  if (group === undefined) return changed;
  const { type: _type, properties: _properties, required: _required, ...rest } = changed;
  const own = withFields(changed, (field) => !Object.hasOwn(fieldsOf(group), field));
  const reference = { $ref: `#/components/schemas/${name}` };
  const [first = ''] = Object.keys(fieldsOf(value));
  if (Object.keys(fieldsOf(own)).length === 0) return { ...rest, allOf: [reference] };
  // Readers show the parts in this order, which is the order of the fields in the object.
  return { ...rest, allOf: Object.hasOwn(fieldsOf(group), first) ? [reference, own] : [own, reference] };
};

/** Returns the same document with the groups as named schemas. A group whose places the document does not have is left out. */
export const withFieldGroups = (document: Json): Json => {
  const schemas = schemasByPlace(document);
  const groups: Groups = Object.entries(groupPlaces).flatMap(([name, [first, second, kept]]) => {
    const [one, other] = [objectAt(schemas, first), objectAt(schemas, second)];
    if (one === undefined || other === undefined) return [];
    const group = withFields(one, (field) => field !== kept && isShared(field, one, other));
    return Object.keys(fieldsOf(group)).length === 0 ? [] : [[name, group] as const];
  });
  if (groups.length === 0) return document;
  const whole = replaced(document, groups) as Json;
  const components = (whole['components'] ?? {}) as Json;
  return { ...whole, components: { ...components, schemas: { ...(components['schemas'] as Json), ...Object.fromEntries(groups) } } };
};
