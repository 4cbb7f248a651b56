/** The content of a message in the spelling that clients of the interface read (contract/events.md): `URL`, `fileSHA256`, `stanzaID`. */

/** Words of field names that the interface writes in capitals. */
const capitals = new Set(['url', 'sha256', 'jid', 'id', 'ms', 'ptt', 'iv', 'jpeg', 'png', 'json']);

const spell = (name: string): string =>
  name
    .split(/(?=[A-Z])/)
    .map((word) => (capitals.has(word.toLowerCase()) ? word.toUpperCase() : word))
    .join('');

/** Field names are few hundred at most, all from the schema of the protocol. */
const spellings = new Map<string, string>();

export const spelled = (name: string): string => {
  let known = spellings.get(name);
  if (known === undefined) {
    known = spell(name);
    spellings.set(name, known);
  }
  return known;
};

/** The same content, whatever its shape, with every field name spelled; a name that is spelled already stays. */
export const contentView = (content: unknown): unknown => {
  if (typeof content !== 'object' || content === null) return content;
  if (Array.isArray(content)) return content.map(contentView);
  const view: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(content)) {
    view[spelled(name)] = contentView(field);
    // Clients read the label of a tapped button from here.
    if (name === 'selectedDisplayText') view['Response'] = { SelectedDisplayText: field };
  }
  return view;
};
