/**
 * The tools of agents in the form that models see: their names and parameters. The arguments of a call are validated like the body of a request.
 */
import { createRequire } from 'node:module';
import { Type, type Static, type TObject } from 'typebox';
import type * as Library from 'typebox/compile';
import { refuse, done, type AgentTool, type Result } from '#actors/model.ts';
import type { ModelQuestion, ToolCall, ToolWish } from '#actors/ports.ts';
import { leadFields } from '#src/contract/views.ts';

const require = createRequire(import.meta.url);

/** Loads the library with the first call of a tool. Its 340 files took a twelfth of the processor time of a start. */
const compile = (shape: TObject) => (require('typebox/compile') as typeof Library).Compile(shape);

type Offer = Pick<ModelQuestion, 'agent' | 'labels'>;

interface Tool<Shape extends TObject> {
  /** The name that the model uses. */
  readonly name: string;
  /** Returns the description and the parameters of the tool; null if the agent cannot use it. */
  offer(offer: Offer): { readonly description: string; readonly shape: Shape } | null;
  call(given: Static<Shape>, offer: Offer): ToolCall;
}

const OneOf = (values: readonly string[], description: string) => Type.Unsafe<string>({ type: 'string', enum: [...values], description });

const Words = (maxLength: number, description: string) => Type.String({ maxLength, description });

const strict = { additionalProperties: false } as const;

/** Lead fields that an agent may write. Notes and fields of the board are excluded, because only people write them. */
const writable = leadFields.filter((name) => /^lead_(?:name|fullName|email|personalid|status|field\d\d)$/.test(name));

/** Lets the compiler compare the parts of a tool with each other. */
const tool = <Shape extends TObject>(parts: Tool<Shape>): Tool<TObject> => parts as unknown as Tool<TObject>;

const tools: Readonly<Record<AgentTool, Tool<TObject>>> = {
  setLeadField: tool({
    name: 'set_lead_field',
    offer: () => ({
      description: 'Note something that the customer said about themselves.',
      shape: Type.Object({ field: OneOf(writable, 'What it is'), value: Words(2_000, 'What the customer said') }, strict),
    }),
    call: ({ field, value }) => ({ tool: 'setLeadField', fields: { [field]: value.trim() === '' ? null : value.trim() } }),
  }),
  addLabel: tool({
    name: 'add_label',
    offer: ({ labels }) =>
      labels.length === 0
        ? null
        : { description: 'Put a label on this conversation.', shape: Type.Object({ label: OneOf(labels, 'Name of the label') }, strict) },
    call: ({ label }) => ({ tool: 'addLabel', label }),
  }),
  handOver: tool({
    name: 'hand_over',
    offer: () => ({
      description: 'Hand the conversation over to a person: when the customer asks for one, or when you cannot help.',
      shape: Type.Object({ reason: Words(500, 'Why, in one sentence') }, strict),
    }),
    call: ({ reason }) => ({ tool: 'handOver', reason }),
  }),
  sendMedia: tool({
    name: 'send_media',
    offer: ({ agent: { media } }) =>
      media.length === 0
        ? null
        : {
            description: `Send a file. There are: ${media.map(({ name, description }) => (description === '' ? name : `${name} (${description})`)).join('; ')}.`,
            shape: Type.Object(
              {
                name: OneOf(
                  media.map(({ name }) => name),
                  'Which file',
                ),
                caption: Type.Optional(Words(1_000, 'Text below it')),
              },
              strict,
            ),
          },
    // The shape has checked the name, so the agent has a file with this name.
    call: ({ name, caption = '' }, { agent: { media } }) => ({
      tool: 'sendMedia',
      media: media.find((one) => one.name === name)!,
      caption,
    }),
  }),
};

/** Returns the tools of an agent in the form of the protocol. */
export const toolsFor = (offer: Offer) =>
  offer.agent.tools.flatMap((name) => {
    const offered = tools[name].offer(offer);
    if (offered === null) return [];
    const { description, shape } = offered;
    return [
      { type: 'function' as const, function: { name: tools[name].name, description, parameters: { ...shape } as Record<string, unknown> } },
    ];
  });

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
};

/** Checks the call of a tool: see `ChatModels.toolCall`. */
export const toolCallOf = (offer: Offer, wish: ToolWish): Result<ToolCall> => {
  const name = offer.agent.tools.find((one) => tools[one].name === wish.name);
  const offered = name === undefined ? null : tools[name].offer(offer);
  if (name === undefined || offered === null) return refuse('invalid', `there is no tool ${wish.name.slice(0, 100)}`);
  const given = parsed(wish.arguments);
  if (given === undefined) return refuse('invalid', 'the arguments are not valid JSON');
  const validator = compile(offered.shape);
  if (!validator.Check(given)) {
    const [finding] = validator.Errors(given);
    // This is the library's message for a field that the shape does not have.
    const problem = finding?.message === 'schema is false' ? 'is not known' : (finding?.message ?? 'does not fit');
    return refuse('invalid', `${finding?.instancePath.slice(1) || 'the list of arguments'} ${problem}`);
  }
  return done(tools[name].call(given, offer));
};
