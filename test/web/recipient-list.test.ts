/** Tests recipient lists of campaigns as the dashboard reads them: typed lists, CSV files, and their faults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillText } from '#actors/text.ts';
import { campaignSettings } from '#config/send-settings.ts';
import { placeholderText } from '#src/contract/ports.ts';
import { ListError } from '#src/web/page/instance/csv.js';
import {
  decoded,
  filled,
  gatewayNames,
  isTypedLong,
  mostRecipients,
  mostTyped,
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

test('recipients: a typed list accepts lines, commas and every usual form of a number', () => {
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

test('recipients: a CSV file with column names, quotes, semicolons and errors is read row by row', () => {
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

test('recipients: in a CSV file without column names the first row is a recipient, and the column with numbers is found', () => {
  assert.deepEqual(faults('Ana,2024,5511999990001\nBo,2025,abc'), [
    [1, '5511999990001', ''],
    [2, 'abc', 'notNumber'],
  ]);
  assert.deepEqual(faults(''), []);
});

test('recipients: the page fills the placeholders of columns and leaves those that the gateway fills', () => {
  const [heads, cells] = [
    ['Nome', 'Cidade'],
    ['Ana', ' Recife '],
  ];
  assert.equal(filled('Oi {{nome}} de {{ Cidade }}, {{lead_email}}', heads, cells), 'Oi Ana de Recife, {{lead_email}}');
  assert.deepEqual([usesColumns('{{nome}}', heads), usesColumns('{{name}}', heads), usesColumns('nome', heads)], [true, false, false]);
});

test('recipients: texts from cells form no placeholder that the gateway fills, alone or together', () => {
  const heads = ['a', 'b', 'c', 'd'];
  const own = (text: string, ...cells: readonly string[]) => fillText(filled(text, heads, cells), null, () => 'SECRET');
  assert.equal(own('Hi {{a}}', '{{lead_notes}}'), 'Hi lead_notes');
  assert.equal(own('{{a}}{{b}}{{c}}{{d}}', '{', '{ lead_notes', '}', '}'), 'lead_notes');
  assert.equal(own('{{{a}}', '{lead_notes}}'), '{lead_notes');
  assert.equal(own('{{a}} {{name}} {x}', '{{{{lead_notes}}}}'), 'lead_notes SECRET {x}');
});

test('recipients: each placeholder without a column is reported once', () => {
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

test('recipients: recipients above the daily limit lengthen the estimated time of a campaign', () => {
  const days = (cap: number, sent: number, waiting: number, messages: number) => stretchedDays({ cap, sent, waiting }, messages);
  assert.deepEqual([days(0, 5, 5, 5_000), days(1_000, 0, 0, 0), days(1_000, 1_000, 0, 0)], [0, 0, 0]);
  assert.deepEqual([days(1_000, 0, 0, 1_000), days(1_000, 0, 0, 1_001), days(1_000, 300, 0, 701)], [0, 1, 1]);
  assert.deepEqual([days(1_000, 0, 0, 2_500), days(1_000, 0, 100, 950), days(10, 0, 9_000, 5)], [2, 1, 0]);
});

test('recipients: a number that a spreadsheet damaged is never read as another number', () => {
  const read = (cell: string) => recipientsOf({ heads: [], rows: [[cell]] }, 0).map(({ number, fault }) => [number, fault])[0];
  for (const cell of ['5511999990001.0', '5511999990001,0', '5511999990001.00', '+5511999990001.0', '55 11 99999-0001.0'])
    assert.deepEqual(read(cell), ['5511999990001', ''], cell);
  for (const cell of ['5,51E+12', '5.511999990001E+12', '5E12', '5,51e+12']) assert.equal(read(cell)?.[1], 'scientific', cell);
  for (const cell of ['5511999990001.5', '5511999990001,25']) assert.equal(read(cell)?.[1], 'notNumber', cell);
  assert.deepEqual(read('33.6.12.34.56.78'), ['33612345678', '']);
});

test('recipients: two numbers in one cell are refused and never joined', () => {
  const several = ['551133330001/2', '12345678 / 1234567', '12345678;1234567', '12345678 e 1234567', '12345678 ou 1234567'];
  for (const cell of [...several, '12345678, 1234567', '12345678\n1234567', '12345678 1234567', '12345678-1234567', '12345678 +1234567'])
    assert.equal(recipientsOf({ heads: [], rows: [[cell]] }, 0)[0]?.fault, 'several', cell);
  assert.equal(recipientsOf({ heads: [], rows: [['+380 44 1234567']] }, 0)[0]?.fault, '');
  assert.equal(recipientsOf({ heads: [], rows: [['5511999990001 / WhatsApp']] }, 0)[0]?.fault, 'notNumber');
});

test('recipients: a first row with an invalid number is a recipient and not a row of column names', () => {
  assert.deepEqual(faults('Ana,5511999990001 / 0002\nBo,5511999990003'), [
    [1, '5511999990001 / 0002', 'several'],
    [2, '5511999990003', ''],
  ]);
  assert.deepEqual(readSheet('Campanha 2024,Data 01/01/2024\na,b').heads, ['Campanha 2024', 'Data 01/01/2024']);
});

test('recipients: an unclosed quotation mark is refused with the number of its line', () => {
  const rest = '5511900000003,Cy\n';
  for (const [name, text] of [
    ['never closed', `phone,name\n5511900000001,Ana\n5511900000002,"Bob\n${rest}`],
    ['closed by the next mark', `phone,name\n5511900000001,Ana\n5511900000002,"Bob\n${rest}5511900000004,"Di"\n`],
  ] as const)
    assert.throws(() => readSheet(text), { reason: 'campaignListQuote', values: { line: 3 } }, name);
  assert.deepEqual(readSheet('phone,name\n5511900000001, "Ana, ""A""\r\nLima" \n').rows, [['5511900000001', 'Ana, "A"\nLima']]);
  assert.deepEqual(readSheet('phone,size\n5511900000001,5\'11" tall\n').rows, [['5511900000001', '5\'11" tall']]);
});

test('recipients: CSV files with lines that end in CR alone, or with a line that names the separator, are read', () => {
  assert.deepEqual(faults('phone,name\r5511900000001,A\r5511900000002,B\r'), [
    [2, '5511900000001', ''],
    [3, '5511900000002', ''],
  ]);
  assert.deepEqual(readSheet('sep=;\r\nphone;name\r\n5511900000001;A'), { heads: ['phone', 'name'], rows: [['5511900000001', 'A']] });
});

test('recipients: the column of the numbers is chosen by its name first, and then by its content', () => {
  const columnOf = (text: string) => {
    const sheet = readSheet(text);
    return sheet.heads[numberColumn(sheet)];
  };
  const rows = '12345678901,5511999990001\n98765432100,\n';
  for (const name of ['telefone', 'PHONE', 'Celular', 'Número', 'WhatsApp', 'Tel. 1', 'phoneNumber', 'Fone comercial', 'mobile'])
    assert.equal(columnOf(`cpf,${name}\n${rows}`), name);
  assert.equal(columnOf('telefone,cpf\n,12345678901\n'), 'telefone');
  // The name `numero do pedido` means the number of an order and not of a phone.
  assert.equal(columnOf('numero do pedido,contato\n1234,5511999990001\n'), 'contato');
  assert.equal(columnOf('telefone fixo,celular\n551133330001,5511999990001\n'), 'celular');
});

test('recipients: the page and the server accept the same number of recipients', () =>
  assert.equal(mostRecipients, campaignSettings.campaignRecipients.value));

test('recipients: a file of any shape is read or refused in linear time', () => {
  assert.throws(() => readSheet(`5511900000001${','.repeat(1_000_000)}`), { reason: 'campaignListWide' });
  assert.throws(() => readSheet('5511900000001\n'.repeat(1_000_000)), { reason: 'campaignListLong' });
  const size = 1_000_000;
  const took = (text: string): number => {
    // The test measures processor time, which other load on the machine does not change.
    const start = process.threadCpuUsage();
    try {
      const sheet = readSheet(text);
      recipientsOf(sheet, numberColumn(sheet));
    } catch (error) {
      assert.ok(error instanceof ListError, String(error));
    }
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1_000;
  };
  for (const text of [
    '"'.repeat(size),
    '""'.repeat(size / 2),
    'a"'.repeat(size / 2),
    ' '.repeat(size),
    ' "'.repeat(size / 2),
    '1'.repeat(size),
    '\r'.repeat(size),
  ])
    assert.ok(took(`5511900000001\n${text}\n`) < 3_000, JSON.stringify(text.slice(0, 4)));
  assert.ok(took(`${`5511900000001${','.repeat(190)}\n`.repeat(5_000)}`) < 3_000);
});

test('recipients: a typed list has a maximum length, and a longer text is refused without parsing', () => {
  const row = '5511900000001\n';
  assert.equal(readTyped(row.repeat(mostTyped)).rows.length, mostTyped);
  assert.throws(() => readTyped(row.repeat(mostTyped + 1)), { reason: 'campaignTypedLong', values: { most: mostTyped } });
  assert.deepEqual([isTypedLong(row.repeat(mostTyped)), isTypedLong(row.repeat(mostTyped + 1))], [false, true]);
  // A CSV file has a larger maximum length.
  assert.equal(readSheet(row.repeat(mostRecipients)).rows.length, mostRecipients);
});

test('recipients: CSV files of older spreadsheets, without UTF-8, are decoded', () => {
  const bytes = (...codes: number[]) => new Uint8Array(codes).buffer;
  assert.equal(decoded(new TextEncoder().encode('João').buffer as ArrayBuffer), 'João');
  assert.equal(decoded(bytes(0x4a, 0x6f, 0xe3, 0x6f)), 'João');
  assert.equal(decoded(bytes(0xff, 0xfe, 0x4a, 0x00)), 'J');
  assert.equal(decoded(bytes(0xfe, 0xff, 0x00, 0x4a)), 'J');
  assert.equal(decoded(bytes()), '');
});
