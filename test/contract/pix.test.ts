/** Tests keys, bank slips and amounts of Brazilian payments. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boletoOf, centsOf, pixKeyOf } from '#src/contract/formats.ts';

/** Keys in the form of a caller. `written` is the form for the platform; null if the key is refused. */
const keys: readonly (readonly [type: string, key: string, written: string | null])[] = [
  ['CPF', '529.982.247-25', '52998224725'],
  ['cpf', '52998224725', '52998224725'],
  ['CPF', '529.982.247-26', null],
  ['CPF', '111.111.111-11', null],
  ['CPF', '5299822472', null],
  ['CNPJ', '11.222.333/0001-81', '11222333000181'],
  ['CNPJ', '11.222.333/0001-82', null],
  ['CNPJ', '12.abc.345/01de-35', '12ABC34501DE35'],
  ['PHONE', '+55 (11) 99999-0000', '+5511999990000'],
  ['PHONE', '99999', null],
  ['EMAIL', 'Shop@Example.com', 'shop@example.com'],
  ['EMAIL', 'shop', null],
  ['EVP', '123E4567-e89b-12d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614174000'],
  ['EVP', '123e4567', null],
  ['IBAN', 'DE00', null],
];

for (const [type, key, written] of keys) {
  test(`PIX: ${type} ${key} is ${written ?? 'refused'}`, () => {
    const found = pixKeyOf(type, key, ' Shop ');
    assert.deepEqual(found.ok ? found.value : null, written === null ? null : { type: type.toUpperCase(), key: written, name: 'Shop' });
  });
}

const slips: readonly (readonly [written: string, digits: number | null])[] = [
  ['34191.79001 01043.510047 91020.150008 5 91070026000000', 47],
  ['34191.79001 01043.510047 91020.150008 5 91070026000', 44],
  ['836600000015 671300481009 001200000000 123456789012', 48],
  ['34191.79001', null],
  ['not digits', null],
];

for (const [written, digits] of slips) {
  test(`a bank slip: ${written} is ${digits ?? 'refused'}`, () => {
    const found = boletoOf(written);
    assert.equal(found.ok ? found.value.length : null, digits);
  });
}

for (const [amount, cents] of [
  [199.9, 19_990],
  [0.1 + 0.2, 30],
  [1, 100],
  [0.01, 1],
  [0.001, null],
  [10.005, null],
  [0, null],
  [-5, null],
] as const) {
  test(`an amount: ${amount} is ${cents ?? 'refused'}`, () => {
    const found = centsOf(amount);
    assert.equal(found.ok ? found.value : null, cents);
  });
}
