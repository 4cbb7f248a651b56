/** Validators of requests, made when the first request of a route comes: to make those of all routes took an eighth of the processor time of a start. */
import AjvCompiler from '@fastify/ajv-compiler';

type Build = ReturnType<typeof AjvCompiler>;
type Compile = ReturnType<Build>;
type Validate = ReturnType<Compile>;

/** Fastify reads what is wrong from the function itself, as the library leaves it there. */
const whenAsked = (make: () => Validate): Validate => {
  let made: Validate | null = null;
  const validate = (value: unknown): unknown => {
    made ??= make();
    const answer: unknown = made(value);
    validate.errors = made.errors;
    return answer;
  };
  validate.errors = undefined as Validate['errors'];
  return validate as unknown as Validate;
};

/** For `schemaController` of Fastify. The schemas that routes refer to are all there when the first request comes, and are read once. */
export const lazyValidators = (): { readonly compilersFactory: { readonly buildValidator: Build } } => {
  const build = AjvCompiler();
  let compile: Compile | null = null;
  return {
    compilersFactory: {
      buildValidator: (schemas, options) => (route) => whenAsked(() => (compile ??= build(schemas, options))(route)),
    },
  };
};
