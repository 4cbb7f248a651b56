/** Tests the address guard: every notation and every range, by URL and by resolved address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressGuard, AddressRefused } from '#src/webhooks/address-guard.ts';

const closed = new AddressGuard({ allow: [] });

const urls: readonly (readonly [url: string, refusal: string | null])[] = [
  ['https://example.com/hook?x=1', null],
  ['http://8.8.8.8:8080/', null],
  ['http://[2606:4700::1111]/', null],
  ['ftp://example.com/', 'url must start with http:// or https://'],
  ['//example.com/', 'url must start with http:// or https://'],
  ['file:///etc/passwd', 'url must start with http:// or https://'],
  ['', 'url must start with http:// or https://'],
  ['http://user:pass@example.com/', 'url must not hold credentials'],
  ['http://user@example.com/', 'url must not hold credentials'],
  ['http://127.0.0.1/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://127.8.9.10/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://2130706433/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://0x7f.1/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://017700000001/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://127.0.0.1./', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://１２７.0.0.1/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[::1]/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[0:0:0:0:0:0:0:1]/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[::ffff:127.0.0.1]/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[64:ff9b::127.0.0.1]/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[::ffff:0:127.0.0.1]/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[::ffff:0:8.8.8.8]/', null],
  ['http://[::ffff:0:169.254.169.254]/', 'url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[2002:7f00:1::]/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://localhost:3000/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://LOCALHOST./', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://api.localhost/', 'url points to an address that is not allowed (loopback): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://0/', 'url points to an address that is not allowed (unspecified): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[::]/', 'url points to an address that is not allowed (unspecified): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://10.1.2.3/', 'url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://172.31.255.255/', 'url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://172.32.0.1/', null],
  ['http://192.168.0.1/', 'url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://100.64.0.1/', 'url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[fd12::1]/', 'url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[64:ff9b::10.0.0.1]/', 'url points to an address that is not allowed (private): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[64:ff9b::8.8.8.8]/', null],
  ['http://169.254.169.254/latest/', 'url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[::ffff:a9fe:a9fe]/', 'url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[fd00:ec2::254]/', 'url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://100.100.100.200/', 'url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://168.63.129.16/', 'url points to an address that is not allowed (metadata): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://169.254.1.1/', 'url points to an address that is not allowed (link-local): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[fe80::1]/', 'url points to an address that is not allowed (link-local): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://224.0.0.1/', 'url points to an address that is not allowed (multicast): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[ff02::1]/', 'url points to an address that is not allowed (multicast): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://255.255.255.255/', 'url points to an address that is not allowed (reserved): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[::8.8.8.8]/', 'url points to an address that is not allowed (reserved): see ALLOW_PRIVATE_RECEIVERS'],
  ['http://[2001::1]/', 'url points to an address that is not allowed (reserved): see ALLOW_PRIVATE_RECEIVERS'],
];
for (const [url, refusal] of urls)
  test(`checkUrl: ${url || 'an empty text'} is ${refusal === null ? 'allowed' : 'refused'}`, () =>
    assert.equal(closed.checkUrl(url), refusal));

const settings: readonly (readonly [allow: readonly string[], url: string, allowed: boolean])[] = [
  [['private'], 'http://10.0.0.1/', true],
  [['private'], 'http://[fd12::1]/', true],
  [['private'], 'http://127.0.0.1/', false],
  [['private'], 'http://100.100.100.200/', false],
  [['private'], 'http://[fd00:ec2::254]/', false],
  [['private'], 'http://[fd20:ce::254]/', false],
  [['private'], 'http://[fd00:c1::a9fe:a9fe]/', false],
  [['loopback'], 'http://127.0.0.1/', true],
  [['loopback'], 'http://localhost/', true],
  [['loopback'], 'http://10.0.0.1/', false],
  [['private', 'loopback'], 'http://169.254.169.254/', false],
  [['10.1.0.0/16'], 'http://10.1.2.3/', true],
  [['10.1.0.0/16'], 'http://[::ffff:10.1.2.3]/', true],
  [['10.1.0.0/16'], 'http://10.2.2.3/', false],
  [['fd12::1'], 'http://[fd12::1]/', true],
  [['fd12::1'], 'http://[fd12::2]/', false],
];
for (const [allow, url, allowed] of settings)
  test(`checkUrl: with ${allow.join(' and ')}, ${url} is ${allowed ? 'allowed' : 'refused'}`, () =>
    assert.equal(new AddressGuard({ allow }).checkUrl(url) === null, allowed));

const resolving = (...addresses: readonly string[]) =>
  new AddressGuard({
    allow: [],
    resolve: (_host, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
  });
const lookup = (guard: AddressGuard, all: boolean) =>
  new Promise((resolve, reject) => guard.lookup('name.test', { all }, (error, found) => (error ? reject(error) : resolve(found))));

test('lookup: public addresses are returned, all of them or the first', async () => {
  const guard = resolving('8.8.8.8', '2606:4700::1111');
  assert.equal(await lookup(guard, false), '8.8.8.8');
  assert.deepEqual(await lookup(guard, true), [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ]);
});

test('lookup: a name with one forbidden address among public ones is refused', async () => {
  for (const address of ['127.0.0.1', '::ffff:10.0.0.1', 'fe80::1%eth0', '169.254.169.254'])
    for (const all of [true, false]) await assert.rejects(lookup(resolving('8.8.8.8', address), all), AddressRefused, address);
});
