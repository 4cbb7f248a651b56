/** Passkeys of accounts. */
import { generateRegistrationOptions, verifyRegistrationResponse } from '@simplewebauthn/server';
import { SandboxError, type Digits } from '../face.ts';
import type { PasskeysFace, PasskeyView, Registration } from '../face/passkeys.ts';
import { makePasskey, type Passkey, rpId, signAssertion, webOrigin } from '../passkey/authenticator.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import { knownPerson, namedPerson } from './lookup.ts';

type Response = Parameters<typeof verifyRegistrationResponse>[0]['response'];

/** The passkey of a registration that answers the challenge. Throws for one that is not right. */
const verified = async (registration: Registration, expectedChallenge: string): Promise<Passkey> => {
  const response = registration as unknown as Response;
  try {
    const given = { response, expectedChallenge, expectedOrigin: webOrigin, expectedRPID: rpId };
    const { id, publicKey, counter } = (await verifyRegistrationResponse(given)).registrationInfo?.credential ?? {};
    if (id === undefined || publicKey === undefined) throw new Error('not verified');
    return { id, publicKey: Buffer.from(publicKey).toString('base64url'), counter: counter ?? 0 };
  } catch (error) {
    throw new SandboxError(400, `registration: ${error instanceof Error ? error.message : String(error)}`);
  }
};

export function passkeysRoom(parts: Parts): PasskeysFace {
  const { people, pairing } = parts;
  /** Challenges of registrations, by number. */
  const challenges = new Map<Digits, string>();

  const passkeyOf = (number: Digits): { readonly person: Person; readonly passkey: Passkey } => {
    const person = knownPerson(parts, number);
    if (!person.passkey) throw new SandboxError(404, 'the account has no passkey');
    return { person, passkey: person.passkey };
  };

  const view = (number: Digits): PasskeyView => {
    const { passkey } = passkeyOf(number);
    const { stage = null, code = null, handedOff = false } = pairing.ceremonyOf(number) ?? {};
    return { id: passkey.id, stage, code: code ?? '', handedOff };
  };

  return {
    async passkeyOptions(number) {
      namedPerson(parts, number, undefined);
      const options = await generateRegistrationOptions({ rpName: 'Simulated platform', rpID: rpId, userName: number });
      challenges.set(number, options.challenge);
      return { ...options };
    },
    async givePasskey(number, { registration, fault }) {
      const person = namedPerson(parts, number, undefined);
      const challenge = challenges.get(number);
      if (registration !== undefined && challenge === undefined) throw new SandboxError(409, 'ask for the options of a registration first');
      person.passkey = registration === undefined ? makePasskey() : await verified(registration, challenge ?? '');
      challenges.delete(number);
      if (fault === undefined) delete person.passkeyFault;
      else person.passkeyFault = fault;
      people.save(person);
      return view(number);
    },
    passkey: view,
    async takePasskey(number) {
      const { person } = passkeyOf(number);
      delete person.passkey;
      delete person.passkeyFault;
      people.save(person);
    },
    async signWithPasskey(number, options, origin = webOrigin) {
      const { person, passkey } = passkeyOf(number);
      const { privateKey } = passkey;
      if (privateKey === undefined) throw new SandboxError(409, 'the private key of this passkey is in its authenticator');
      const assertion = signAssertion(passkey, privateKey, options, origin);
      people.save(person);
      return assertion;
    },
  };
}
