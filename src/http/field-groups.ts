/** Groups of fields that several objects of the OpenAPI document have. The document names a group once, and each object refers to it and adds its own fields. Pure. */

type Json = Readonly<Record<string, unknown>>;

/** The fields that two objects have in common. */
interface GroupRow {
  /**
   * The places of both objects. A place is a named schema, a group of an earlier row, or an operation with the path to the object. A single
   * place is a named schema, whose fields are the group.
   */
  readonly places: readonly [one: string, other?: string];
  /** Common fields that do not move to the group, separated by spaces. */
  readonly kept?: string;
  /** True if the bounds of the fields also apply to the second object, whose schema lacks them. */
  readonly bounds?: true;
}

const content = 'CampaignContent';

/** Groups by name. An object refers to a group only for fields that no earlier group of the object has. */
export const groupPlaces: Readonly<Record<string, GroupRow>> = {
  SendOptions: { places: ['sendText body', 'sendMedia body'], kept: 'number' },
  CampaignContent: { places: ['sendSimpleCampaign body', 'sendAdvancedCampaign body messages item'] },
  MessageOptions: { places: ['SendOptions', content], bounds: true },
  LinkPreview: { places: ['sendText body', content], bounds: true, kept: 'text' },
  FileOptions: { places: ['sendMedia body', content], bounds: true },
  ContactOptions: { places: ['sendContact body', content], bounds: true },
  EventOptions: { places: ['sendEvent body', content], bounds: true },
  MenuOptions: { places: ['sendMenu body', content], bounds: true },
  PaymentOptions: { places: ['sendRequestPayment body', content], bounds: true },
  ChatSummary: { places: ['Chat', 'findChats answer chats item'] },
  ActorSummary: { places: ['listActors answer rows item', 'getActor answer'] },
  CallDetails: { places: ['CallEvent 2 call', 'HistoryEvent 2 calls item'] },
  PrivacyChoices: { places: ['changePrivacy body', 'getPrivacy answer'] },
  SessionOptions: { places: ['connectInstance body', 'createInstance body'] },
  WebhookOptions: { places: ['saveWebhook body', 'saveGlobalWebhook body'] },
  PostSearch: { places: ['editPost body', 'deletePost body'] },
  GroupAct: { places: ['GroupChangedEvent 2 event', 'GroupJoinedEvent 2 event 2'] },
  Delivery: { places: ['Delivery'] },
  EventPerson: { places: ['MessagesUpdateEvent 2 event', 'PresenceEvent 2 event'] },
  PasskeyStep: { places: ['followPasskey answer', 'confirmPasskeyByCode answer'] },
  AlertChat: { places: ['saveAlerts body telegram', 'getAlerts answer settings telegram'], bounds: true },
  AlertMail: { places: ['saveAlerts body email', 'getAlerts answer settings email'], bounds: true },
};

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

const inside = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((part, key) => (isObject(part) || Array.isArray(part) ? (part as Json)[key] : undefined), value);

/** Returns the schemas of an operation's body and answer. The keys are the first two words of their places. */
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

/**
 * Returns the object at a place. After the start of a place, each word is one step: a number is a part of a composition, `item` is an element of a list, and
 * any other word is a field.
 */
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

const boundNames = new Set(['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'pattern', 'minItems', 'maxItems']);

const withoutBounds = (schema: unknown): unknown =>
  isObject(schema) ? Object.fromEntries(Object.entries(schema).filter(([key]) => !boundNames.has(key))) : schema;

/** Returns true if two objects have the same field, required in both or in none. */
const isShared = (name: string, one: Json, other: Json, bounds = false): boolean => {
  if (!Object.hasOwn(fieldsOf(other), name) || requiredOf(one).includes(name) !== requiredOf(other).includes(name)) return false;
  const written = [one, other]
    .map((schema) => fieldsOf(schema)[name])
    .map((field) => JSON.stringify(bounds ? withoutBounds(field) : field));
  return written[0] === written[1];
};

/** Returns the object with only the fields that meet the condition. */
const withFields = (schema: Json, holds: (name: string) => boolean): Json => {
  const required = requiredOf(schema).filter(holds);
  const properties = Object.fromEntries(Object.entries(fieldsOf(schema)).filter(([name]) => holds(name)));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
};

interface Group {
  readonly name: string;
  readonly schema: Json;
  /** Objects whose fields may lack the bounds that the group has. */
  readonly loose: ReadonlySet<unknown>;
}

const hasAll = (schema: Json, { schema: group, loose }: Group): boolean =>
  Object.keys(fieldsOf(group)).every((name) => isShared(name, group, schema, loose.has(schema)));

/** Keywords of an object that keep their meaning in a composition. */
const besides = new Set(['type', 'properties', 'required', 'description', 'examples']);

/** Returns the groups whose fields an object has. A group that shares a field with an earlier group is left out. */
const groupsOf = (schema: Json, groups: readonly Group[]): readonly Group[] => {
  if (schema['type'] !== 'object' || Object.keys(schema).some((key) => !besides.has(key))) return [];
  const taken = new Set<string>();
  return groups.filter((group) => {
    const names = Object.keys(fieldsOf(group.schema));
    if (group.schema === schema || names.some((name) => taken.has(name)) || !hasAll(schema, group)) return false;
    for (const name of names) taken.add(name);
    return true;
  });
};

/** Replaces the objects in a value. Examples are data and stay as they are. */
const replaced = (value: unknown, groups: readonly Group[]): unknown => {
  if (Array.isArray(value)) return value.map((one) => replaced(one, groups));
  if (!isObject(value)) return value;
  const changed: Json = Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, ['example', 'examples'].includes(key) ? one : replaced(one, groups)]),
  );
  // Fields are compared in their original form, before their own objects are replaced.
  const order = Object.keys(fieldsOf(value));
  const positionOf = ({ schema }: Group): number => order.findIndex((field) => Object.hasOwn(fieldsOf(schema), field));
  const found = groupsOf(value, groups).toSorted((a, b) => positionOf(a) - positionOf(b));
  if (found.length === 0) return changed;
  const { type: _type, properties: _properties, required: _required, ...rest } = changed;
  const isGrouped = (field: string): boolean => found.some(({ schema }) => Object.hasOwn(fieldsOf(schema), field));
  const own = withFields(changed, (field) => !isGrouped(field));
  const references = found.map(({ name }) => ({ $ref: `#/components/schemas/${name}` }));
  if (Object.keys(fieldsOf(own)).length === 0) return { ...rest, allOf: references };
  // Viewers of the document show the parts in this order, which is the order of the fields in the object.
  return { ...rest, allOf: isGrouped(order[0] ?? '') ? [...references, own] : [own, ...references] };
};

/** Returns the group of a row, or undefined if the document lacks a place or the objects have no further field in common. */
const groupOfRow = (name: string, row: GroupRow, schemas: ReadonlyMap<string, unknown>, earlier: readonly Group[]): Group | undefined => {
  const [first, second] = row.places;
  const one = objectAt(schemas, first);
  if (second === undefined) return one && { name, schema: one, loose: new Set() };
  const other = objectAt(schemas, second);
  if (one === undefined || other === undefined) return undefined;
  const kept = new Set(row.kept?.split(' '));
  for (const found of [one, other].flatMap((schema) => groupsOf(schema, earlier)))
    for (const field of Object.keys(fieldsOf(found.schema))) kept.add(field);
  const schema = withFields(one, (field) => !kept.has(field) && isShared(field, one, other, row.bounds));
  return Object.keys(fieldsOf(schema)).length === 0 ? undefined : { name, schema, loose: new Set(row.bounds ? [other] : []) };
};

/** Returns the same document with the groups as named schemas. A group whose places the document does not have is left out. */
export const withFieldGroups = (document: Json): Json => {
  const schemas = new Map(schemasByPlace(document));
  const groups: Group[] = [];
  for (const [name, row] of Object.entries(groupPlaces)) {
    const group = groupOfRow(name, row, schemas, groups);
    if (group === undefined) continue;
    groups.push(group);
    schemas.set(name, group.schema);
  }
  if (groups.length === 0) return document;
  const whole = replaced(document, groups) as Json;
  const components = (whole['components'] ?? {}) as Json;
  const named = Object.fromEntries(groups.map(({ name, schema }) => [name, replaced(schema, groups)]));
  return { ...whole, components: { ...components, schemas: { ...(components['schemas'] as Json), ...named } } };
};
