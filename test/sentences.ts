/** The rules of plain technical English that a program can check: the first word of a comment, the length of a sentence, the form of a test title. */

export interface Located {
  /** The line on which the text begins, from 1. */
  readonly line: number;
  readonly text: string;
}

/** First words of a comment that leave out its subject. `What a folder may import` says less than `Allowed imports of a folder`. */
const emptyBeginnings =
  /^(?:What|Of|Whether|Who|Whose|Whoever|Whatever|How|Where|Why|As|By|That|When|Which|Those|Everything|Nothing|Somebody|Everybody|Nobody)\b/;

/** The largest number of words in a sentence. Most sentences have fewer than 20. */
const mostWords = 30;

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;

/** Returns the comments that begin a line, without their marks and on one line each. Neighbouring line comments are one comment. */
export const commentsOf = (source: string): readonly Located[] =>
  [...source.matchAll(/^[ \t]*\/\*\*?[\s\S]*?\*\/|(?:^[ \t]*\/\/ [^\n]*\n?)+/gm)]
    .map(({ 0: comment, index }) => ({
      line: lineOf(source, index),
      text: comment
        .replaceAll(/^[ \t]*(?:\/\*\*?|\*\/|\*(?!\/)|\/\/) ?|\*\/$/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    }))
    .filter(({ text }) => text !== '');

/** Returns the sentences of a comment. A colon ends a sentence too. Types in a JSDoc tag are left out. */
const sentencesOf = (comment: string): readonly string[] =>
  comment.replace(/ ?@(?:typedef|property|param|type)\b.*$/, '').split(/(?<=[.!?:])\s+(?=\S)/);

/** Returns the faults of a comment, each in a few words. */
export const faultsOf = (comment: string): readonly string[] => {
  const [beginning] = emptyBeginnings.exec(comment) ?? [];
  const long = sentencesOf(comment)
    .map((sentence) => sentence.split(' '))
    .find(({ length }) => length > mostWords);
  return [
    ...(beginning === undefined ? [] : [`begins with "${beginning}"`]),
    ...(long === undefined ? [] : [`has a sentence of ${long.length} words: "${long.slice(0, 10).join(' ')}…"`]),
  ];
};

/** Returns the titles of tests that are literals. A title that is an expression is left out. */
export const titlesOf = (source: string): readonly Located[] =>
  [...source.matchAll(/(?:^|[\s;)]|\bt\.)test\(\s*(?:'([^'\n]+)'|`([^`]+)`)/g)].map(({ 1: plain, 2: template, index }) => ({
    line: lineOf(source, index + 1),
    text: plain ?? template ?? '',
  }));

/** True if a test title names its subject first, as in `subject: behaviour in the present tense`. A title may begin with an expression. */
export const isTitle = (title: string): boolean => /^(?:\$\{|[^:]{1,60}: \S)/.test(title);
