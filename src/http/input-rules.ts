/** The rules of input checks. Values are taken as they are, so that a number never silently becomes a text. */
import type { FastifySchemaValidationError } from 'fastify';
import type { TSchema } from 'typebox';
import { lazyValidators } from '../base/lazy-validators.ts';

/** For `ajv` of Fastify. */
export const inputRules = {
  customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allowUnionTypes: true },
} as const;

/** One library for all, made with the first check. */
const validatorOf = lazyValidators().compilersFactory.buildValidator({}, inputRules);

/** Returns the errors of a value; an empty list if the value fits. */
export type InputCheck = (value: unknown) => readonly FastifySchemaValidationError[];

/** Checks what comes in another place than the body of a route as such a body is checked. */
export const inputCheck = (schema: TSchema): InputCheck => {
  const validate = validatorOf({ schema, method: '', url: '' });
  return (value) => (validate(value) === true ? [] : ((validate.errors ?? []) as readonly FastifySchemaValidationError[]));
};
