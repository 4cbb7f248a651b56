/** Requests about businesses, and whose profile or catalog they are about. */
import { isWABusinessPlatform, type BinaryNode } from '@whiskeysockets/baileys';
import { done, refuse, type Result } from '#actors/model.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import type { OperationControl, Outcome } from '#actors/ports.ts';
import { addressesOf } from '../wire/directory.ts';
import { answerOf } from '../wire/outcomes.ts';
import { isLid, isPerson, personServer, resolveTarget } from '../wire/jid.ts';

/** The address under which the platform knows the business: by its number where that is known. */
export const ownerOf = async (connection: LiveConnection, owner: string): Promise<Result<string>> => {
  const { directory } = connection;
  if (owner === '') return done(directory.me.pn);
  const target = resolveTarget(owner);
  if (!target.ok || !(isPerson(target.jid) || isLid(target.jid))) return refuse('invalid', 'jid must be a number or the id of a person');
  await connection.learn([target.jid]);
  return done(addressesOf(directory, target.jid).pn || target.jid);
};

const notOffered = refuse('notSupported', 'the platform does not offer this to linked devices');
/** The platform's code for a request that it does not know. */
const notImplemented = 501;

const noBusiness = refuse(
  'notSupported',
  'profiles and catalogs of its own are a feature of business accounts: this one was none when it was paired',
);
/** The platform's codes for what an account may not do, and for a profile or catalog that is not there. */
const refusedCodes: ReadonlySet<number | undefined> = new Set([403, 404]);

/** True if a refused request was about the account itself, which is no business. */
const needsBusiness = ({ sock, directory }: LiveConnection, { owner = '' }: { readonly owner?: string }): boolean => {
  const { platform } = sock.authState.creds;
  const isOwn = owner === '' || owner === directory.me.pn || owner === directory.me.pn.split('@')[0];
  return isOwn && (platform === undefined || !isWABusinessPlatform(platform));
};

type AnyHandler = (connection: LiveConnection, input: never, control: OperationControl) => Promise<Outcome<unknown>>;

/** The handlers, with outcomes of their own for a request that the platform does not know, and for one that only businesses may make. */
export const whereOffered = <Table extends Readonly<Record<string, AnyHandler>>>(handlers: Table): Table =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      async (...[connection, input, control]: Parameters<AnyHandler>): Promise<Outcome<unknown>> => {
        const asked = await answerOf(handler(connection, input, control), () => connection.sock.ws.isOpen);
        const outcome = asked.ok ? asked.value : asked;
        if (outcome.ok || outcome.refusal.reason !== 'refused') return outcome;
        const { code } = outcome.refusal;
        if (code === notImplemented) return notOffered;
        return refusedCodes.has(code) && needsBusiness(connection, input ?? {}) ? noBusiness : outcome;
      },
    ]),
  ) as unknown as Table;

/** `smax`: the number that the request has in the platform's list, where it has one. Rejects with the library's error when the platform refuses. */
export const askBusiness = (
  { sock }: LiveConnection,
  type: 'get' | 'set',
  content: BinaryNode,
  { xmlns, smax }: { readonly xmlns: 'w:biz' | 'w:biz:catalog' | 'fb:thrift_iq'; readonly smax?: string },
): Promise<BinaryNode> =>
  sock.query({
    tag: 'iq',
    attrs: { to: personServer, xmlns, type, ...(smax === undefined ? {} : { smax_id: smax }) },
    content: [content],
  });
