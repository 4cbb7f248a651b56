/** The people who operate the gateway: their rows, their passwords and their one-time codes. */
import type { UserMethods } from '../views.ts';
import { done, nameObjection, passwordObjection, refuse, type Result, type Role, type User, userNameOf } from '../model.ts';
import { NamedBuckets } from '../policy/pacing.ts';
import type { Ports, UserChange, UserRow } from '../ports.ts';

type UserPorts = Pick<Ports, 'users' | 'passwords' | 'oneTimeCodes' | 'chance' | 'time' | 'media'>;

/** The largest number of users. No gateway has that many operators. */
const most = 1_000;

/** The limit of wrong passwords for one name, from all addresses together: 20 at once, then 20 a minute. */
const passwordPace = { burst: 20, every: 3_000 };
/** The limit of wrong one-time codes of one user: ten at once, then ten an hour. Three of a million codes are valid at a time. */
const codePace = { burst: 10, every: 360_000 };

/** The refusal of every failed sign-in. One sentence for all failures does not reveal which names exist. */
const wrong = refuse('forbidden', 'the name, the password or the one-time code is wrong');
const unknownUser = refuse('notFound', 'there is no such user');
const changedMeanwhile = refuse('conflict', 'another request has just changed the user');
const busy = refuse('limited', 'too many sign-ins are being checked', { retryAfter: 1 });
const tooMany = (waitMs: number) => refuse('limited', 'Rate limit exceeded', { retryAfter: Math.ceil(waitMs / 1_000) });
const wrongPassword = refuse('forbidden', 'the password is wrong');

const newId = ({ chance }: UserPorts): string => `u${chance.hex(7)}`;
const newVersion = ({ chance }: UserPorts): string => chance.hex(16);

/** Checks passwords and codes, within the limits of guesses. */
const checks = (ports: UserPorts) => {
  const { passwords, oneTimeCodes, time } = ports;
  const guesses = new NamedBuckets(passwordPace);
  const codes = new NamedBuckets(codePace);
  return {
    /** Checks a password. `row` is null for a name that no user has. */
    async password(name: string, row: UserRow | null, given: string, refusal: Result<never>): Promise<Result<null>> {
      const wait = guesses.take(name, time.now());
      if (wait > 0) return tooMany(wait);
      const isRight = await passwords.verify(given, row === null || !row.readable ? null : row.password);
      if (isRight === null) guesses.giveBack(name);
      if (isRight !== true) return isRight === null ? busy : refusal;
      guesses.giveBack(name);
      return done(null);
    },
    /** Returns the time step of a right code. A wrong code uses up one guess. */
    code({ id, codeSecret }: Pick<UserRow, 'id' | 'codeSecret'>, given: string, refusal: Result<never>): Result<number> {
      const wait = codes.take(id, time.now());
      if (wait > 0) return tooMany(wait);
      const step = oneTimeCodes.stepOf(codeSecret, given, time.now());
      if (step === null) return refusal;
      codes.giveBack(id);
      return done(step);
    },
  };
};

type Checks = ReturnType<typeof checks>;

const authenticating = (ports: UserPorts, check: Checks): UserMethods['authenticateUser'] => {
  const { users, time } = ports;
  return async ({ name: given, password, code }) => {
    const name = userNameOf(given);
    // An invalid name is checked like any other name, so that the response time does not reveal that the name is invalid.
    const row = nameObjection(name) === null ? await users.byName(name) : null;
    const checked = await check.password(name.slice(0, 64), row, password, wrong);
    if (!checked.ok) return checked;
    if (row === null) return wrong;
    const step = row.hasCode ? check.code(row, code.replaceAll(/\s/g, ''), wrong) : done(null);
    if (!step.ok) return step;
    const { id, role, hasCode, version } = row;
    return (await users.signedIn(row, time.now(), step.value)) ? done({ id, name, role, hasCode, version }) : wrong;
  };
};

/** Hashes a new password. Refuses a weak password. */
const hashed = async (ports: UserPorts, password: string, name: string): Promise<Result<string>> => {
  const objection = passwordObjection(password, name);
  if (objection !== null) return refuse('invalid', objection);
  const hash = await ports.passwords.hash(password);
  return hash === null ? busy : done(hash);
};

/** Changes that a user makes, after a check of the password. */
const ownCommands = (ports: UserPorts, check: Checks) => {
  const { users, oneTimeCodes, media } = ports;
  const changed = async ({ id, version }: UserRow, change: UserChange): Promise<Result<User>> => {
    const user = await users.change(id, change, newVersion(ports), version);
    return user === null ? changedMeanwhile : done(user);
  };
  const known = async (id: string, password: string): Promise<Result<UserRow>> => {
    const row = await users.byId(id);
    if (row === null) return unknownUser;
    const checked = await check.password(row.name, row, password, wrongPassword);
    return checked.ok ? done(row) : checked;
  };

  return {
    async changePassword(id, old, password) {
      const row = await known(id, old);
      if (!row.ok) return row;
      const hash = await hashed(ports, password, row.value.name);
      return hash.ok ? changed(row.value, { password: hash.value }) : hash;
    },
    async offerCode(id, password) {
      const row = await known(id, password);
      if (!row.ok) return row;
      const secret = oneTimeCodes.newSecret();
      const uri = oneTimeCodes.uriOf(secret, row.value.name);
      return done({ secret, uri, picture: await media.qrPng(uri) });
    },
    async confirmCode(id, secret, password, code) {
      const row = await known(id, password);
      if (!row.ok) return row;
      const step = check.code({ id, codeSecret: secret }, code.replaceAll(/\s/g, ''), refuse('forbidden', 'the one-time code is wrong'));
      return step.ok ? changed(row.value, { codeSecret: secret, codeStep: step.value }) : step;
    },
    async removeCode(id, password) {
      const row = await known(id, password);
      return row.ok ? changed(row.value, { codeSecret: '' }) : row;
    },
  } satisfies Partial<UserMethods>;
};

export const userCommands = (ports: UserPorts): UserMethods => {
  const { users, time } = ports;
  const check = checks(ports);
  const make = async (name: string, role: Role, password: string): Promise<Result<User>> => {
    const hash = await hashed(ports, password, name);
    if (!hash.ok) return hash;
    const user: User = { id: newId(ports), name, role, hasCode: false, createdAt: time.now(), lastSignInAt: 0 };
    const outcome = await users.add({ ...user, password: hash.value, version: newVersion(ports) }, most);
    if (outcome === 'taken') return refuse('conflict', 'there is a user of this name');
    return outcome === 'full' ? refuse('capped', `the gateway has ${most} users, which is the limit`) : done(user);
  };

  return {
    users: () => users.all(),
    async createUser({ name: given, role, password }) {
      const name = userNameOf(given);
      const objection = nameObjection(name);
      return objection === null ? make(name, role, password) : refuse('invalid', objection);
    },
    async updateUser(id, { role, password, resetCode = false }) {
      const row = await users.byId(id);
      if (row === null) return unknownUser;
      const hash = password === undefined ? null : await hashed(ports, password, row.name);
      if (hash !== null && !hash.ok) return hash;
      const change = {
        ...(role === undefined ? {} : { role }),
        ...(hash === null ? {} : { password: hash.value }),
        ...(resetCode ? { codeSecret: '' } : {}),
      };
      if (Object.keys(change).length === 0) return refuse('invalid', 'role, password or resetCode is required');
      const user = await users.change(id, change, newVersion(ports));
      return user === null ? unknownUser : done(user);
    },
    async removeUser(id) {
      const user = await users.remove(id);
      return user === null ? unknownUser : done(user);
    },
    authenticateUser: authenticating(ports, check),
    ...ownCommands(ports, check),
  };
};
