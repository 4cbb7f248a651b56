/** Reads the source of the program with the compiler, and returns the facts that the tests of the architecture check. */
import { readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

export interface SourceFact {
  /** The line in its file, from 1. `what` is the name of the fact, such as an imported file or the first line of a function. */
  readonly line: number;
  readonly what: string;
}

export interface SourceFileFacts {
  /** The path from the root of the project, with slashes. */
  readonly path: string;
  readonly lines: number;
  readonly commentLines: number;
  /** Imports: a path of the project such as `src/http/app.ts`, `node:…`, or a package with its subpath. */
  readonly imports: readonly (SourceFact & { readonly typeOnly: boolean })[];
  readonly functions: readonly (SourceFact & { readonly lines: number })[];
  /** Uses of the type `any`. */
  readonly anys: readonly SourceFact[];
  /** Uses of `process.env`. */
  readonly environment: readonly SourceFact[];
  /** Regular expressions as literals. Patterns of schemas have the same form. */
  readonly expressions: readonly SourceFact[];
  /** Calls of `RegExp`. */
  readonly builtExpressions: readonly SourceFact[];
}

export const root = dirname(import.meta.dirname);
/** The TypeScript projects: the program with its tests, and the scripts of the dashboard, which run in the browser. */
const projects = ['tsconfig.json', 'src/web/page/tsconfig.json'];
const roots = ['actors/', 'config/', 'src/', 'test/'];

const functionKinds: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

/** Returns the pattern of a schema if it is a literal. Returns null for other nodes, and for a pattern that is a name. */
const schemaPattern = (node: Node): string | null => {
  if (node.kind !== SyntaxKind.PropertyAssignment) return null;
  const [, raw, text] = /^pattern: ('|String\.raw`)(.*)['`]$/s.exec(node.getText()) ?? [];
  return text === undefined ? null : `/${raw === "'" ? text.replaceAll('\\\\', '\\') : text}/u`;
};

const isBuiltExpression = (node: Node): boolean =>
  (node.kind === SyntaxKind.NewExpression || node.kind === SyntaxKind.CallExpression) && /^(?:new )?RegExp\(/.test(node.getText());

/** Returns relative paths and the `#` names of package.json as paths from the root; packages and `node:` names unchanged. */
const resolveImport = (specifier: string, importer: string): string => {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier);
  return specifier.startsWith('#') ? specifier.slice(1) : specifier;
};

const importOf = (node: Node): { specifier: string; typeOnly: boolean } | null => {
  const [clause] = /^(?:import|export)\s+type\b/.exec(node.getText()) ?? [];
  const {
    moduleSpecifier,
    expression,
    arguments: args,
  } = node as Node & { moduleSpecifier?: Node; expression?: Node; arguments?: readonly Node[] };
  const called = node.kind === SyntaxKind.CallExpression && expression?.kind === SyntaxKind.ImportKeyword ? args?.[0] : undefined;
  const literal = moduleSpecifier ?? called;
  return literal?.kind === SyntaxKind.StringLiteral ? { specifier: literal.getText().slice(1, -1), typeOnly: clause !== undefined } : null;
};

const walk = (node: Node, visit: (node: Node) => void): void => {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
};

const commentLinesOf = (text: string): number => text.split('\n').filter((line) => /^\s*(?:\/\/|\/\*|\*(?:\s|\/|$))/.test(line)).length;

const factsOf = (path: string, file: Node): SourceFileFacts => {
  const text = readFileSync(join(root, path), 'utf8');
  const lineAt = (position: number): number => text.slice(0, position).split('\n').length;
  const facts = {
    imports: [] as { line: number; what: string; typeOnly: boolean }[],
    functions: [] as { line: number; what: string; lines: number }[],
  };
  const [anys, environment] = [[] as SourceFact[], [] as SourceFact[]];
  const [expressions, builtExpressions] = [[] as SourceFact[], [] as SourceFact[]];
  walk(file, (node) => {
    const [start, end] = [node.getStart(), node.end];
    const here = () => ({ line: lineAt(start), what: text.slice(start, end).split('\n', 1)[0] ?? '' });
    const found = importOf(node);
    if (found) facts.imports.push({ ...here(), what: resolveImport(found.specifier, path), typeOnly: found.typeOnly });
    if (functionKinds.has(node.kind)) facts.functions.push({ ...here(), lines: lineAt(end) - lineAt(start) + 1 });
    if (node.kind === SyntaxKind.AnyKeyword) anys.push(here());
    if (node.kind === SyntaxKind.PropertyAccessExpression && node.getText() === 'process.env') environment.push(here());
    const expression = node.kind === SyntaxKind.RegularExpressionLiteral ? node.getText() : schemaPattern(node);
    if (expression !== null) expressions.push({ ...here(), what: expression });
    if (isBuiltExpression(node)) builtExpressions.push(here());
  });
  return {
    path,
    lines: lineAt(text.length) - 1,
    commentLines: commentLinesOf(text),
    ...facts,
    anys,
    environment,
    expressions,
    builtExpressions,
  };
};

export const readSourceTree = (): readonly SourceFileFacts[] => {
  const api = new API({ cwd: root });
  try {
    const facts = projects.flatMap((name) => {
      const wanted = join(root, name);
      const project = api
        .updateSnapshot({ openProjects: [wanted] })
        .getProjects()
        .find(({ configFileName }) => configFileName === wanted);
      if (!project) throw new Error('the compiler found no project');
      return project.program
        .getSourceFileNames()
        .map((file) => relative(root, file).replaceAll('\\', '/'))
        .filter((path) => roots.some((prefix) => path.startsWith(prefix)))
        .map((path) => factsOf(path, project.program.getSourceFile(join(root, path)) as Node));
    });
    // A module of the dashboard that a test imports belongs to both projects.
    return [...new Map(facts.map((file) => [file.path, file])).values()];
  } finally {
    api.close();
  }
};
