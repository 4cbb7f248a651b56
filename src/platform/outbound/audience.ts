/** Determines the recipients of a status post. The client chooses them, or they follow from the account's privacy setting and its contacts. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import { type Audience, type AudienceWish, done, type KnownContact, refuse, type Result } from '#actors/model.ts';
import type { LiveConnection } from './live-connection.ts';
import { bare, formsOf, isLid, isPerson, knownForm, personServer, resolveTarget, userOf } from '../wire/jid.ts';
import { outcomeOfError, refused } from '../wire/outcomes.ts';

interface Privacy {
  readonly setting: Audience['setting'];
  /** The only recipients (`allowlist`), or the excluded contacts (`denylist`). */
  readonly listed: readonly string[];
  readonly isUsual: boolean;
}

const usual: Privacy = { setting: 'contacts', listed: [], isUsual: true };
const settings: Readonly<Record<string, Audience['setting']>> = { contacts: 'contacts', whitelist: 'allowlist', blacklist: 'denylist' };

/** Time limit of the query for the privacy setting. In milliseconds. */
const privacyMs = 10_000;

/** Reads the privacy setting. The answer contains all stored lists. The list in use has the attribute `default`. */
const privacyIn = (answer: BinaryNode): Privacy => {
  const lists = getBinaryNodeChildren(getBinaryNodeChild(answer, 'privacy'), 'list');
  const list = lists.find(({ attrs }) => attrs['default'] === 'true') ?? lists[0];
  const setting = settings[list?.attrs['type'] ?? ''];
  if (list === undefined || setting === undefined) return usual;
  return { setting, listed: getBinaryNodeChildren(list, 'user').map(({ attrs }) => bare(attrs['jid'])), isUsual: false };
};

/**
 * Queries the privacy setting. A 404 means that the default setting applies. If the platform refuses the query, the post is refused, because the account may
 * have chosen few recipients. Throws the error of the library if no answer came.
 */
const privacyOf = async ({ sock }: LiveConnection): Promise<Result<Privacy>> => {
  const attrs = { to: personServer, xmlns: 'status', type: 'get' };
  try {
    const answer: unknown = await sock.query({ tag: 'iq', attrs, content: [{ tag: 'privacy', attrs: {} }] }, privacyMs);
    return done(privacyIn(answer as BinaryNode));
  } catch (error) {
    const failure = outcomeOfError(error, sock.ws.isOpen)?.refusal;
    if (failure?.code === 404) return done(usual);
    if (failure === undefined || failure.connectionLost || failure.reason === 'unknown') throw error;
    const { code, message } = failure;
    return refused(code ?? null, `failed to determine status audience: ${message}`);
  }
};

interface Candidate {
  /** The recipient as the client wrote it. */
  readonly input: string;
  /** The address; '' if the input is not a person. */
  readonly jid: string;
  readonly lid: string;
}

const given = (input: string): Candidate => {
  const target = resolveTarget(input);
  const jid = target.ok && (isPerson(target.jid) || isLid(target.jid)) ? target.jid : '';
  return { input, jid, lid: isLid(jid) ? jid : '' };
};

const ofContact = ({ chatId, chatLid }: KnownContact): Candidate => ({
  input: chatId,
  jid: chatId,
  lid: isLid(chatId) ? chatId : chatLid,
});

/** Returns the contacts that the setting selects. A listed person may be named by either address. */
const chosenBy = ({ setting, listed }: Privacy, contacts: readonly KnownContact[]): readonly Candidate[] => {
  if (setting === 'allowlist') return listed.map(given);
  const left = new Set(listed);
  return contacts.filter(({ known, chatId, chatLid }) => known === 'named' && !left.has(chatId) && !left.has(chatLid)).map(ofContact);
};

/** Loads the LIDs of the candidates. Queries unknown LIDs from the platform in one request, Brazilian numbers in both forms. */
const requestLids = async (candidates: readonly Candidate[], { loadMappings, directory, sock }: LiveConnection): Promise<void> => {
  const numbers = candidates.filter(({ jid, lid }) => isPerson(jid) && lid === '').map(({ jid }) => jid);
  await loadMappings(candidates.filter(({ jid }) => jid !== '').flatMap(({ jid }) => formsOf(jid)));
  const unknown = numbers.filter((jid) => knownForm(directory, jid) === null).flatMap(formsOf);
  if (unknown.length === 0) return;
  await sock.signalRepository.lidMapping.getLIDsForPNs(unknown);
  await loadMappings(unknown);
};

interface Sifted {
  readonly kept: readonly string[];
  readonly discarded: readonly { readonly input: string; readonly reason: string }[];
}

/** Separates valid recipients from discarded ones. If the account has a LID, recipients are named by LID, because the platform refuses numbers. */
const sift = (candidates: readonly Candidate[], { directory }: LiveConnection): Sifted => {
  const { me } = directory;
  const byLid = me.lid !== '';
  const kept = new Set<string>();
  const discarded: { input: string; reason: string }[] = [];
  for (const { input, jid: written, lid } of candidates) {
    const jid = isPerson(written) ? (knownForm(directory, written) ?? written) : written;
    const address = byLid ? lid || directory.lid(jid) : isLid(jid) ? directory.pn(jid) : jid;
    const isOwn = jid !== '' && [me.pn, me.lid].includes(jid);
    const reason = jid === '' ? 'invalid' : isOwn ? 'own_number' : address === '' ? 'lid_unresolved' : kept.has(address) ? 'duplicate' : '';
    if (reason === '') kept.add(address);
    else discarded.push({ input, reason });
  }
  return { kept: [...kept], discarded };
};

/** The largest number of discarded recipients in the report. */
const mostExamples = 100;

const countsOf = (contacts: readonly KnownContact[]) => {
  const counts = { named: 0, pushName: 0, number: 0 };
  for (const { known } of contacts) counts[known] += 1;
  return counts;
};

/** Returns the audience. Refuses with `invalid` if no recipient is left, and with `refused` if the privacy setting cannot be read. */
export const audienceOf = async (wish: AudienceWish, connection: LiveConnection): Promise<Result<Audience>> => {
  const { recipients, contacts, most } = wish;
  const privacy = recipients === null ? await privacyOf(connection) : done<Privacy>({ setting: 'allowlist', listed: [], isUsual: false });
  if (!privacy.ok) return privacy;
  const candidates = recipients === null ? chosenBy(privacy.value, contacts) : recipients.map(given);
  if (connection.directory.me.lid !== '') await requestLids(candidates, connection);
  else await connection.loadMappings(candidates.map(({ jid }) => jid));
  const { kept, discarded } = sift(candidates, connection);
  if (kept.length === 0)
    return refuse(
      'invalid',
      'nobody would see the post: no recipient has an account, or the account has no contact that its phone has saved',
    );
  return done({
    setting: privacy.value.setting,
    recipients: most > 0 ? kept.slice(0, most) : kept,
    report: {
      explicit: recipients !== null,
      usualPrivacy: privacy.value.isUsual,
      contacts: countsOf(contacts),
      requested: candidates.length,
      resolved: kept.length,
      discarded: discarded.length,
      examples: discarded.slice(0, mostExamples),
      most,
    },
  });
};

/**
 * Returns the addresses that get the sender key of a status post: the recipients and the own phone. The own address has device number 0, so that the library
 * sends the key to the phone only, and not to this session.
 */
export const readersOf = ({ recipients }: Audience, { me }: LiveConnection['directory']): string[] => [
  ...recipients,
  me.lid === '' ? `${userOf(me.pn)}:0@${personServer}` : `${userOf(me.lid)}:0@lid`,
];
