/** The audit log: pages, and exports as lines of JSON or as CSV. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import type { AuditEntry, AuditQuery, Gateway } from '#actors/gateway.ts';
import { isoTime } from '#src/contract/views.ts';
import { done, type Route, route } from '../route.ts';
import { AuditAnswer, AuditQueryShape } from '../schemas/audit.ts';

const usual = 100;
/** Entries that an export reads at once. */
const exportPage = 1_000;

const columns = ['id', 'at', 'actor', 'who', 'address', 'method', 'route', 'instance', 'subject', 'status'] as const;

/** Quotes a cell (RFC 4180). A spreadsheet reads a text that begins with one of these signs as a formula, so a quote goes before it. */
const cell = (value: string | number): string => {
  const text = typeof value === 'number' ? String(value) : value.replace(/^\s*[=+\-@\t\r\n]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Times are written in a form that people and spreadsheets read. */
const csvLine = (entry: AuditEntry): string =>
  `${columns.map((name) => cell(name === 'at' ? isoTime(entry.at) : entry[name])).join(',')}\r\n`;

const formats = {
  ndjson: { type: 'application/x-ndjson', head: '', line: (entry: AuditEntry) => `${JSON.stringify(entry)}\n` },
  csv: { type: 'text/csv; charset=utf-8', head: `${columns.join(',')}\r\n`, line: csvLine },
} as const;

/** Yields all entries that fit, page by page, so that an export of any length takes the memory of one page. */
async function* linesOf({ auditPage }: Gateway, query: AuditQuery, { head, line }: (typeof formats)['csv' | 'ndjson']) {
  if (head !== '') yield head;
  let { before } = query;
  for (;;) {
    const { entries, next } = await auditPage({ ...query, limit: exportPage, ...(before === undefined ? {} : { before }) });
    if (entries.length > 0) yield entries.map(line).join('');
    if (next === null) return;
    before = next;
  }
}

const sendExport = async (reply: FastifyReply, gateway: Gateway, query: AuditQuery, format: 'ndjson' | 'csv'): Promise<null> => {
  const { type } = formats[format];
  const lines = linesOf(gateway, query, formats[format]);
  // If the database is away, the client gets the usual error, because no byte of the export has left yet.
  const first = await lines.next();
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': type,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-disposition': `attachment; filename="audit.${format}"`,
  });
  const all = async function* () {
    if (first.done !== true) yield first.value;
    yield* lines;
  };
  // The cut connection tells the client that the export is incomplete.
  await pipeline(Readable.from(all()), reply.raw).catch(() => reply.raw.destroy());
  return null;
};

export const auditRoutes: readonly Route[] = [
  route({
    on: ['GET /admin/audit'],
    operationId: 'listAuditEntries',
    credential: 'admin',
    tag: 'admin',
    summary: 'List who changed what, when and from where, the latest first; `format` exports all entries that fit as ndjson or csv',
    query: AuditQueryShape,
    answer: AuditAnswer,
    run: async ({ gateway, query: { format = 'json', limit = usual, ...filter }, reply }) => {
      if (format !== 'json') return sendExport(reply, gateway, { ...filter, limit: exportPage }, format);
      return done(await gateway.auditPage({ ...filter, limit }));
    },
  }),
];
