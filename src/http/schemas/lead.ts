/** Shapes of leads: the fields that integrators keep about a chat. */
import { type TSchema, Type } from 'typebox';
import { chatFields, type FieldType, leadFields } from '#src/contract/views.ts';
import { Count, fields, Flag, like, LooseText, numberExample, optional, ref, Text } from './common.ts';

/** Characters: a field is a line, notes are a page. */
const longest = { line: 2_000, notes: 20_000 };
const tags = { most: 100, longest: 100 };

const shapes: Readonly<Record<FieldType, (name: string) => TSchema>> = {
  text: (name) => Text(name === 'lead_notes' ? longest.notes : longest.line, 'An empty text takes the field away'),
  number: () => Count(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'A whole number; 0 takes the field away'),
  boolean: () => Flag('False takes the field away'),
  list: () =>
    Type.Array(Text(tags.longest, 'A tag'), { maxItems: tags.most, description: 'All tags of the lead; an empty list takes them away' }),
};

export const EditLeadBody = Type.Unsafe<{ readonly id: string | number } & Readonly<Record<string, unknown>>>(
  Type.Object({
    id: like(LooseText(100, 'The chat: its jid, its LID or its number', 1), numberExample),
    ...Object.fromEntries(leadFields.map((name) => [name, optional(shapes[chatFields[name]?.type ?? 'text'](name))])),
  }),
);

const customFields = leadFields.filter((name) => /^lead_field\d\d$/.test(name));

export const FieldsMapBody = Type.Unsafe<Readonly<Record<string, string | undefined>>>(
  Type.Object(
    Object.fromEntries(
      customFields.map((name) => [name, optional(Text(255, 'What this field is called; an empty text takes the name away'))]),
    ),
  ),
);

/** Other keys of a body are ignored. */
export const namesOf = (body: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(customFields.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name].trim()]])));

export const LeadTag = Type.Object(
  {
    ...fields('id name owner created updated', Type.String()),
    kanban: Type.Boolean({ description: 'A column of the board' }),
    kanbanOrder: Type.Integer({ description: 'Place among the columns' }),
  },
  {
    $id: 'LeadTag',
    examples: [
      {
        id: 'r1a2b3c4d5e6f70',
        name: 'negotiation',
        owner: '5511988887777',
        created: '2026-08-19 17:36:34.345Z',
        updated: '2026-08-19 17:36:34.345Z',
        kanban: true,
        kanbanOrder: 2,
      },
    ],
  },
);

export const LeadTagsAnswer = Type.Array(ref(LeadTag));

export const EditLeadTagBody = Type.Object({
  id: optional(Text(40, 'The tag; without it one is made')),
  name: optional(Text(tags.longest, 'What it is called; required for a new one')),
  kanban: optional(Flag('Whether it is a column of the board')),
  kanbanOrder: optional(Count(0, Number.MAX_SAFE_INTEGER, 'Place among the columns')),
  delete: optional(Flag('Deletes the tag; leads keep its name')),
});

export const EditLeadTagAnswer = Type.Object({ response: Type.String(), tags: LeadTagsAnswer });
