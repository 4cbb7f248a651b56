/** Tests passwords and one-time codes: the vectors of the standards, equal time for unknown names, and bounded work. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameObjection, passwordObjection } from '#actors/model.ts';
import { NamedBuckets } from '#actors/policy/pacing.ts';
import { codeOf, createOneTimeCodes, createPasswords, stepAt } from '#src/users/credentials.ts';
import { cheapPasswords } from '#test/fakes/users.ts';

/** The secret of RFC 6238, appendix B: the ASCII text 12345678901234567890. */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const codes = createOneTimeCodes();

/** The last six of the eight digits of the appendix. */
for (const [seconds, code] of [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const)
  test(`one-time codes: at ${seconds} s the code of RFC 6238 is ${code}`, () => {
    assert.equal(codeOf(rfcSecret, stepAt(seconds * 1_000)), code);
    assert.equal(codes.stepOf(rfcSecret, code, seconds * 1_000), stepAt(seconds * 1_000));
  });

test('one-time codes: a code is valid for one step before and after its own', () => {
  const now = 1_234_567_890_000;
  const step = stepAt(now);
  for (const [away, found] of [
    [-60_000, null],
    [-30_000, step],
    [30_000, step],
    [60_000, null],
  ] as const)
    assert.equal(codes.stepOf(rfcSecret, codeOf(rfcSecret, step), now + away), found, `${away}`);
});

test('one-time codes: only six digits are a code, and a secret that a client made up has none', () => {
  const now = 59_000;
  for (const [secret, code] of [
    [rfcSecret, ''],
    [rfcSecret, '28708'],
    [rfcSecret, '2870822'],
    [rfcSecret, '28708２'],
    ['', codeOf('A'.repeat(32), 1)],
    ['AAAA', codeOf('AAAA', 1)],
  ] as const)
    assert.equal(codes.stepOf(secret, code, now), null, `${secret} ${code}`);
});

test('one-time codes: each secret has 160 random bits, and its address names the user', () => {
  const secrets = new Set(Array.from({ length: 100 }, () => codes.newSecret()));
  assert.equal(secrets.size, 100);
  for (const secret of secrets) assert.match(secret, /^[A-Z2-7]{32}$/);
  const uri = new URL(codes.uriOf(rfcSecret, 'ana@shop'));
  assert.deepEqual([uri.protocol, uri.host, uri.searchParams.get('secret')], ['otpauth:', 'totp', rfcSecret]);
  assert.equal(decodeURIComponent(uri.pathname), '/Dormouse:ana@shop');
});

const password = 'correct horse battery';

test('passwords: a hash names its algorithm and cost, has a new salt, and matches its password only', async () => {
  const passwords = createPasswords();
  const [one, other] = [await passwords.hash(password), await passwords.hash(password)];
  assert.match(String(one), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  assert.notEqual(one, other);
  assert.equal(await passwords.verify(password, one), true);
  assert.equal(await passwords.verify(`${password} `, one), false);
});

test('passwords: a hash with an earlier cost, or of another program, is still valid', async () => {
  const passwords = createPasswords();
  assert.equal(await passwords.verify(password, await cheapPasswords.hash(password)), true);
  // The command `argon2 somesalt -id -t 2 -k 65536 -p 1` of the reference implementation, for "password".
  const ofReference = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  assert.equal(await passwords.verify('password', ofReference), true);
});

test('passwords: the same letters in another Unicode form are the same password', async () => {
  const hash = await cheapPasswords.hash('senha de cafe\u0301 forte');
  assert.equal(await cheapPasswords.verify('senha de caf\u00e9 forte', hash), true);
});

test('passwords: a damaged hash matches no password', async () => {
  for (const hash of ['', 'x', '$argon2id$v=19$m=8,t=1,p=1$$', '$argon2d$v=19$m=8,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5Q'])
    assert.equal(await cheapPasswords.verify('', hash), false, hash);
});

/** Returns the processor time of all threads in milliseconds, which other processes do not change. */
const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
};

test('passwords: an unknown name takes as long as a wrong password', async () => {
  const passwords = createPasswords();
  const hash = await passwords.hash(password);
  // Both are measured in turns, and the shortest times count, because other load only adds time.
  let [wrong, unknown] = [Infinity, Infinity];
  for (let n = 0; n < 8; n += 1) {
    wrong = Math.min(wrong, await timeOf(() => passwords.verify('wrong', hash)));
    unknown = Math.min(unknown, await timeOf(() => passwords.verify('wrong', null)));
  }
  assert.ok(unknown > wrong / 2 && unknown < wrong * 2, `${unknown} ms and ${wrong} ms`);
});

test('passwords: beyond the limit of waiting checks further ones are refused at once, and the others finish', async () => {
  const passwords = createPasswords();
  const all = await Promise.all(Array.from({ length: 70 }, () => cheapPasswords.verify('x', null)));
  assert.deepEqual([all.filter((one) => one === false).length, all.filter((one) => one === null).length], [66, 4]);
  assert.equal(await passwords.verify('x', null), false);
});

test('passwords: weak ones are refused with the reason', () => {
  for (const [given, reason] of [
    ['short', 'the password must have 12 to 256 characters'],
    ['a'.repeat(300), 'the password must have 12 to 256 characters'],
    ['abababababab', 'the password repeats the same characters'],
    ['hello anabel 12', 'the password must not contain the name'],
    [password, null],
  ] as const)
    assert.equal(passwordObjection(given, 'anabel'), reason);
});

test('names: they have lower-case letters, digits and some signs, and cannot be a formula of a spreadsheet', () => {
  for (const name of ['ana', 'ana.silva@shop', '7up', 'a'.repeat(64)]) assert.equal(nameObjection(name), null, name);
  for (const name of ['', 'Ana', '=1+1', '@ana', '-ana', 'ana silva', 'a'.repeat(65), 'ana\n'])
    assert.notEqual(nameObjection(name), null, name);
});

test('guesses: after the burst each period allows one more, and a refunded attempt does not count', () => {
  const guesses = new NamedBuckets({ burst: 2, every: 1_000 });
  assert.deepEqual([guesses.take('ana', 0), guesses.take('ana', 0), guesses.take('ana', 0)], [0, 0, 1_000]);
  assert.equal(guesses.take('bea', 0), 0, 'names are counted apart');
  assert.equal(guesses.take('ana', 1_000), 0);
  guesses.giveBack('ana');
  assert.deepEqual([guesses.take('ana', 1_000), guesses.take('ana', 1_000)], [0, 1_000]);
});
