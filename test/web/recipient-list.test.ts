/** Recipients of a campaign as the dashboard reads them: typed lists, CSV files, and their faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeholderText } from '#src/contract/ports.ts';
import {
  decoded,
  filled,
  gatewayNames,
  numberColumn,
  readSheet,
  readTyped,
  recipientsOf,
  stretchedDays,
  unknownIn,
  usesColumns,
} from '#src/web/page/instance/recipient-list.js';

const faults = (text: string) => {
  const sheet = readSheet(text);
  return recipientsOf(sheet, numberColumn(sheet)).map(({ row, number, fault }) => [row, number, fault]);
};

test('recipients: a typed list takes lines, commas and every usual form of a number', () => {
  const found = recipientsOf(readTyped('+55 (11) 99999-0001\n5511999990002, 5511999990003;\n\n120363153742562022@g.us'), 0);
  assert.deepEqual(
    found.map(({ number, fault }) => [number, fault]),
    [
      ['5511999990001', ''],
      ['5511999990002', ''],
      ['5511999990003', ''],
      ['120363153742562022@g.us', ''],
    ],
  );
});

test('recipients: a file with names of columns, quotes, semicolons and faults is read row by row', () => {
  const text =
    '\uFEFFNome;Telefone;Cidade\r\n"Ana ""A""; Lima";+55 11 99999-0001;Recife\r\nBo;;Natal\r\n\r\nCy;abc;"a\nb"\r\nDi;123;x\r\nEd;5511999990001;y\r\n';
  assert.deepEqual(faults(text), [
    [2, '5511999990001', ''],
    [3, '', 'empty'],
    [4, 'abc', 'notNumber'],
    [5, '123', 'length'],
    [6, '5511999990001', 'twice'],
  ]);
  assert.deepEqual(readSheet(text).rows[0], ['Ana "A"; Lima', '+55 11 99999-0001', 'Recife']);
});

test('recipients: without names the first row is a recipient, and the column with numbers is found', () => {
  assert.deepEqual(faults('Ana,2024,5511999990001\nBo,2025,5.51E+12'), [
    [1, '5511999990001', ''],
    [2, '551E12', 'notNumber'],
  ]);
  assert.deepEqual(faults(''), []);
});

test('recipients: placeholders of columns are filled, and those of the gateway stay', () => {
  const [heads, cells] = [
    ['Nome', 'Cidade'],
    ['Ana', ' Recife '],
  ];
  assert.equal(filled('Oi {{nome}} de {{ Cidade }}, {{lead_email}}', heads, cells), 'Oi Ana de Recife, {{lead_email}}');
  assert.deepEqual([usesColumns('{{nome}}', heads), usesColumns('{{name}}', heads), usesColumns('nome', heads)], [true, false, false]);
});

test('recipients: placeholders that nobody fills are found, once each', () => {
  const text = 'Oi {{nmae}}, {{name}} {{ first_name }} {{Nome}} {{lead_city}} {{ Name }} {{Nome completo}} {{nmae}}';
  assert.deepEqual(unknownIn(text, ['Nome']), ['{{nmae}}', '{{ Name }}', '{{Nome completo}}']);
  assert.deepEqual(unknownIn('Oi {{nmae', []), []);
});

test('recipients: the page and the gateway know the same placeholders', () => {
  for (const name of [...gatewayNames, 'lead_email']) assert.notEqual(placeholderText(name, null), null, name);
  const unknown = ['Name', 'nmae', 'leads', 'WA_NAME'];
  assert.equal(unknownIn(unknown.map((name) => `{{${name}}}`).join(' '), []).length, unknown.length);
  for (const name of unknown) assert.equal(placeholderText(name, null), null, name);
});

test('recipients: the daily limit stretches a campaign by what is beyond it', () => {
  const days = (cap: number, sent: number, waiting: number, messages: number) => stretchedDays({ cap, sent, waiting }, messages);
  assert.deepEqual([days(0, 5, 5, 5_000), days(1_000, 0, 0, 0), days(1_000, 1_000, 0, 0)], [0, 0, 0]);
  assert.deepEqual([days(1_000, 0, 0, 1_000), days(1_000, 0, 0, 1_001), days(1_000, 300, 0, 701)], [0, 1, 1]);
  assert.deepEqual([days(1_000, 0, 0, 2_500), days(1_000, 0, 100, 950), days(10, 0, 9_000, 5)], [2, 1, 0]);
});

test('recipients: files of older spreadsheets are decoded too', () => {
  const bytes = (...codes: number[]) => new Uint8Array(codes).buffer;
  assert.equal(decoded(new TextEncoder().encode('João').buffer as ArrayBuffer), 'João');
  assert.equal(decoded(bytes(0x4a, 0x6f, 0xe3, 0x6f)), 'João');
  assert.equal(decoded(bytes(0xff, 0xfe, 0x4a, 0x00)), 'J');
  assert.equal(decoded(bytes()), '');
});
