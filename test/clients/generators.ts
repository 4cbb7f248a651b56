/** Makes TypeScript clients of the OpenAPI document, as integrators do, and compiles them with programs that use them. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OpenAPI3 } from 'openapi-typescript';
import { root } from '#test/source-tree.ts';

// The generators need the JavaScript API of TypeScript 5, and the compiler of the project has another one.
registerHooks({ resolve: (name, context, next) => next(name === 'typescript' ? 'typescript5' : name, context) });

type Document = Readonly<Record<string, unknown>>;

/** Writes types by `openapi-typescript`. The folder must exist. */
const typesOnly = async (document: Document, folder: string): Promise<void> => {
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  writeFileSync(join(folder, 'schema.ts'), astToString(await openapiTypes(structuredClone(document) as unknown as OpenAPI3)));
};

/** Writes types and functions by `@hey-api/openapi-ts`. */
const heyApi = async (document: Document, folder: string): Promise<void> => {
  const { createClient } = await import('@hey-api/openapi-ts');
  const output = { path: folder, module: { extension: '.js' } } as const;
  await createClient({
    input: structuredClone(document),
    output,
    logs: { level: 'silent' },
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  });
};

export const generators = { 'openapi-fetch': typesOnly, 'hey-api': heyApi } as const;
export type Generator = keyof typeof generators;

const compilerOptions = {
  target: 'esnext',
  module: 'nodenext',
  lib: ['esnext', 'dom', 'dom.iterable'],
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  outDir: 'built',
};

/**
 * Generates the client and compiles it with programs of `docs/examples`. Returns the path of the folder with the compiled programs. Throws an error with
 * what the compiler says.
 */
export const built = async (generator: Generator, document: Document, folder: string, programs: readonly string[]): Promise<string> => {
  mkdirSync(join(folder, 'client'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await generators[generator](document, join(folder, 'client'));
  for (const program of programs) copyFileSync(join(root, 'docs/examples', `${program}.ts`), join(folder, `${program}.ts`));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'client'] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await promisify(execFile)(process.execPath, [compiler, '-p', folder]).catch(({ stdout }: { stdout: string }) => {
    throw new Error(`the compiler refuses the client of ${generator}:\n${stdout.slice(0, 4000)}`);
  });
  return join(folder, 'built');
};
