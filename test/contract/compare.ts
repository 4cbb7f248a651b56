/** Compares the OpenAPI document of the gateway with the facts of the interface. Each difference is a short text, such as `body.delay is missing`. */
import { answerOf, type JsonSchema, mediaOf, type Operation, resolved, saysError } from '#test/support/openapi.ts';
import { type OperationFacts, schemaOf } from './interface.ts';

type Shared = Readonly<Record<string, JsonSchema>>;

const typesOf = ({ type, enum: members, anyOf }: JsonSchema): readonly string[] | null => {
  if (type !== undefined) return [type as string | readonly string[]].flat();
  if (Array.isArray(members)) return [...new Set(members.map((member) => typeof member))];
  if (!Array.isArray(anyOf)) return null;
  const parts = anyOf.map((one) => typesOf(one as JsonSchema));
  return parts.includes(null) ? null : parts.flatMap((part) => part ?? []);
};

const propertiesOf = ({ properties }: JsonSchema) => (properties ?? {}) as Shared;

const requiredOf = ({ required }: JsonSchema): readonly string[] => (required ?? []) as readonly string[];

/** Returns true if every type of `narrow` is one of `wide`. A whole number is a number. */
const covers = (wide: readonly string[] | null, narrow: readonly string[] | null): boolean =>
  wide === null || narrow === null || narrow.every((type) => wide.includes(type) || (type === 'integer' && wide.includes('number')));

interface Direction {
  /** True for input, of which the gateway must accept every field of the interface. Answers may have no other fields. */
  readonly input: boolean;
}

const differences = (path: string, theirs: JsonSchema, ours: JsonSchema, { input }: Direction): readonly string[] => {
  const [wide, narrow] = input ? [ours, theirs] : [theirs, ours];
  const found: string[] = [];
  if (!covers(typesOf(wide), typesOf(narrow))) found.push(`${path} is ${String(typesOf(ours))} instead of ${String(typesOf(theirs))}`);
  const [few, many] = [theirs['enum'], ours['enum']] as readonly (readonly unknown[] | undefined)[];
  if (input && few !== undefined && many !== undefined)
    for (const member of few) if (!many.includes(member)) found.push(`${path} does not take ${String(member)}`);
  for (const [name, schema] of Object.entries(propertiesOf(theirs))) {
    const own = propertiesOf(ours)[name];
    // A schema that allows any object need not name the fields.
    if (own === undefined && (typesOf(ours) === null || ours['additionalProperties'] === true)) continue;
    found.push(...(own === undefined ? [`${path}.${name} is missing`] : differences(`${path}.${name}`, schema, own, { input })));
  }
  const [wanted, needed] = [requiredOf(theirs), requiredOf(ours)];
  if (input) {
    for (const name of needed) if (!wanted.includes(name)) found.push(`${path}.${name} is required`);
    for (const name of wanted) if (!needed.includes(name)) found.push(`${path}.${name} may be left out`);
  } else for (const name of wanted) if (!needed.includes(name)) found.push(`${path}.${name} is not always there`);
  const items = [theirs['items'], ours['items']] as readonly (JsonSchema | undefined)[];
  if (items[0] !== undefined && items[1] !== undefined) found.push(...differences(`${path}[]`, items[0], items[1], { input }));
  return found;
};

const credentialOf = ({ security }: Operation): string => Object.keys(security[0] ?? {})[0] ?? 'none';

const parameterDifferences = (facts: OperationFacts, { parameters = [], security }: Operation): readonly string[] => {
  const named = new Set(security.flatMap((one) => (one['stream'] ? ['token'] : [])));
  return (['query', 'path'] as const).flatMap((where) =>
    Object.entries(facts[where] ?? {}).flatMap(([key, shape]) => {
      const name = key.replace(/!$/, '');
      const own = parameters.find((one) => one.in === where && one.name === name);
      if (own === undefined) return named.has(name) ? [] : [`${where}.${name} is missing`];
      return differences(`${where}.${name}`, schemaOf(shape), own.schema, { input: true });
    }),
  );
};

const errorDifferences = (facts: OperationFacts, operation: Operation, shared: Shared): readonly string[] =>
  Object.entries(facts.errors ?? {}).flatMap(([status, text]) => {
    const { schema } = mediaOf(answerOf(operation, status)?.content);
    if (schema === undefined) return [`${status} is missing`];
    const fields = facts.errorFields?.[status];
    const wrong = fields === undefined ? [] : differences(status, schemaOf(fields), resolved(schema, shared), { input: false });
    return [...(text === '' || saysError(operation, status, text) ? [] : [`${status} does not say "${text}"`]), ...wrong];
  });

export const documentDifferences = (facts: OperationFacts, operation: Operation, shared: Shared): readonly string[] => {
  const credential = credentialOf(operation).replace('stream', 'none');
  const body = mediaOf(operation.requestBody?.content).schema;
  return [
    ...(credential === facts.auth ? [] : [`wants ${credential} instead of ${facts.auth}`]),
    ...parameterDifferences(facts, operation),
    ...(facts.body === undefined
      ? []
      : differences('body', schemaOf(facts.body), body === undefined ? {} : resolved(body, shared), { input: true })),
    ...(facts.body !== undefined && body === undefined ? ['body is missing'] : []),
    ...Object.entries(facts.answers ?? {}).flatMap(([status, shape]) => {
      const { schema } = mediaOf(operation.responses[status]?.content);
      return schema === undefined
        ? [`${status} is missing`]
        : differences(status, schemaOf(shape), resolved(schema, shared), { input: false });
    }),
    ...errorDifferences(facts, operation, shared),
  ];
};
