/**
 * Files in contents: the kinds of content with files, and the step that takes the files before a message is accepted. To take a file means to fetch,
 * prepare and keep it (`Attachments.take`).
 */
import { done, isTaken, type Attachment, type GivenFile, type Head, type Result, type SendContent } from './model.ts';

type Take = (given: GivenFile) => Promise<Result<Attachment>>;
type OfKind<K extends SendContent['kind']> = Extract<SendContent, { kind: K }>;

interface Files<Content> {
  /** Returns the files that still have to be taken. */
  readonly given: (content: Content) => readonly GivenFile[];
  /** Returns the content with its taken files. `files` has the order of `given`. */
  readonly taken: (content: Content, files: readonly Attachment[]) => Content;
  /** Returns the URL at which the gateway serves the file that the message shows; '' for none. */
  readonly url: (content: Content) => string;
}

const givenHeads = (heads: readonly (Head | null)[]): readonly GivenFile[] =>
  heads.flatMap((head) => (head === null || isTaken(head.file) ? [] : [head.file]));

/** Replaces the file of a head by the next taken file. `next` is called only for a head whose file still had to be taken. */
const takenHead = (head: Head | null, next: () => Attachment | undefined): Head | null => {
  if (head === null || isTaken(head.file)) return head;
  const file = next();
  return file ? { ...head, file } : head;
};

const inOrder = (files: readonly Attachment[]): (() => Attachment | undefined) => {
  const waiting = [...files];
  return () => waiting.shift();
};

/** The file functions of contents that have one picture, video or document above their text. */
const headed = <Content extends { readonly head: Head | null }>(): Files<Content> => ({
  given: ({ head }) => givenHeads([head]),
  taken: (content, files) => ({ ...content, head: takenHead(content.head, inOrder(files)) }),
  url: ({ head }) => (head && isTaken(head.file) ? head.file.url : ''),
});

/** The file functions by kind. A kind without a row has no files. */
const filesOf: { readonly [K in SendContent['kind']]?: Files<OfKind<K>> } = {
  media: {
    given: ({ file }) => (isTaken(file) ? [] : [file]),
    taken: (content, [file]) => (file ? { ...content, file } : content),
    url: ({ file }) => (isTaken(file) ? file.url : ''),
  },
  buttons: headed(),
  payment: headed(),
  carousel: {
    given: ({ cards }) => givenHeads(cards.map(({ head }) => head)),
    taken(content, files) {
      const next = inOrder(files);
      return { ...content, cards: content.cards.map((card) => ({ ...card, head: takenHead(card.head, next) })) };
    },
    // A content with several files has no single URL.
    url: () => '',
  },
};

const rowOf = (content: SendContent): Files<SendContent> | undefined => filesOf[content.kind] as Files<SendContent> | undefined;

export const hasFilesToTake = (content: SendContent): boolean => (rowOf(content)?.given(content).length ?? 0) > 0;

/** Returns the URL of the file that the content shows; '' for none. */
export const fileUrlOf = (content: SendContent): string => rowOf(content)?.url(content) ?? '';

/**
 * Takes the files of a content one after the other, because together they could exceed any limit of memory and disk. Takes all files if `wanted` returns true
 * for at least one of them, and no file otherwise.
 */
export async function withFilesTaken(
  content: SendContent,
  take: Take,
  wanted: (given: GivenFile) => boolean = () => true,
): Promise<Result<SendContent>> {
  const row = rowOf(content);
  if (row === undefined || !row.given(content).some(wanted)) return done(content);
  const files: Attachment[] = [];
  for (const given of row.given(content)) {
    const taken = await take(given);
    if (!taken.ok) return taken;
    files.push(taken.value);
  }
  return done(row.taken(content, files));
}
