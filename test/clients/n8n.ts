/** Runs the HTTP requests of an n8n workflow: evaluates the expressions of its nodes as n8n does, and sends the requests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { root } from '#test/source-tree.ts';

type Json = Readonly<Record<string, unknown>>;

interface Pairs {
  readonly parameters: readonly { readonly name: string; readonly value: string }[];
}

interface Node {
  readonly name: string;
  readonly type: string;
  readonly parameters: {
    readonly method?: string;
    readonly url?: string;
    readonly path?: string;
    readonly headerParameters?: Pairs;
    readonly bodyParameters?: Pairs;
    readonly jsonBody?: string;
    readonly assignments?: { readonly assignments: readonly { readonly name: string; readonly value: string }[] };
    readonly conditions?: {
      readonly conditions: readonly { readonly leftValue: string; readonly operator: { readonly operation: string } }[];
    };
  };
}

interface Workflow {
  readonly nodes: readonly Node[];
  readonly connections: Readonly<Record<string, { readonly main: readonly (readonly { readonly node: string }[])[] }>>;
}

/** Evaluates a value that begins with `=`, a text with expressions in double braces. A single expression keeps its type. */
const evaluated = (value: string, scope: Json): unknown => {
  if (!value.startsWith('=')) return value;
  const [, only] = /^=\{\{((?:(?!\}\}).)*)\}\}$/.exec(value) ?? [];
  if (only !== undefined) return runInNewContext(only, { ...scope });
  return value
    .slice(1)
    .replaceAll(/\{\{((?:(?!\}\}).)*)\}\}/g, (_whole, expression: string) => String(runInNewContext(expression, { ...scope })));
};

const pairsOf = (pairs: Pairs | undefined, scope: Json): Json =>
  Object.fromEntries((pairs?.parameters ?? []).map(({ name, value }) => [name, evaluated(value, scope)]));

export class N8nWorkflow {
  readonly #workflow: Workflow;
  /** The output of each node that ran. */
  readonly #outputs: Record<string, Json> = {};

  constructor(file: string) {
    this.#workflow = JSON.parse(readFileSync(join(root, 'docs/examples', file), 'utf8')) as Workflow;
  }

  /** Runs from a node to the end. `input`: its output. `settings`: in place of the values of the node `Settings`. Returns the number of requests. */
  async run(from: string, input: Json, settings: Json = {}): Promise<number> {
    let requests = 0;
    let output = input;
    for (let name: string | undefined = from; name !== undefined;) {
      const node = this.#workflow.nodes.find((one) => one.name === name);
      if (node === undefined) throw new Error(`the workflow has no node ${name}`);
      const next: Json | null = await this.#step(node, output, settings);
      if (next === null) return requests;
      if (node.type.endsWith('.httpRequest')) requests += 1;
      this.#outputs[node.name] = next;
      output = next;
      name = this.#workflow.connections[name]?.main[0]?.[0]?.node;
    }
    return requests;
  }

  /** Runs one node. Returns null if the condition of the node does not hold. */
  async #step({ type, parameters }: Node, $json: Json, settings: Json): Promise<Json | null> {
    const scope = { $json, $: (name: string) => ({ item: { json: this.#outputs[name] } }) };
    switch (type.replace('n8n-nodes-base.', '')) {
      case 'manualTrigger':
      case 'webhook':
        return $json;
      case 'set':
        return Object.fromEntries((parameters.assignments?.assignments ?? []).map(({ name, value }) => [name, settings[name] ?? value]));
      case 'if':
        return (parameters.conditions?.conditions ?? []).every(({ leftValue }) => evaluated(leftValue, scope) !== '') ? $json : null;
      case 'httpRequest':
        return this.#request(parameters, scope);
      default:
        throw new Error(`${type} is a node that this test does not know`);
    }
  }

  async #request({ method = 'GET', url = '', headerParameters, bodyParameters, jsonBody }: Node['parameters'], scope: Json): Promise<Json> {
    const headers = { 'content-type': 'application/json', ...(pairsOf(headerParameters, scope) as Record<string, string>) };
    const body = jsonBody === undefined ? JSON.stringify(pairsOf(bodyParameters, scope)) : String(evaluated(jsonBody, scope));
    const answer = await fetch(String(evaluated(url, scope)), { method, headers, body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}: ${text}`);
    return { answer: JSON.parse(text) as unknown };
  }
}
